import type { ReactNode } from 'react';

interface PageHeroProps {
  title: string;
  lead?: string;
  /** Shown above the title: a back link or a category. */
  above?: ReactNode;
  picture?: ReactNode;
  /** Nothing follows, so the footer keeps the distance. */
  alone?: boolean;
  /** Buttons below the lead. */
  children?: ReactNode;
}

/** The first section of a page. The picture is beside the text on a wide screen and above it on a phone. */
export function PageHero({ title, lead, above, picture, alone, children }: PageHeroProps) {
  return (
    <div
      className={`page md:flex md:items-center md:gap-10 print:py-0 ${alone ? 'pt-8 md:pt-12' : 'py-8 md:py-12'}`}
    >
      {picture && (
        <div className="mb-4 w-36 shrink-0 md:order-1 md:mb-0 md:ms-auto md:w-[min(18rem,37vw)] print:hidden">
          {picture}
        </div>
      )}
      <div className="max-w-2xl">
        {above}
        <h1>{title}</h1>
        {lead && <p className="text-muted-foreground mt-3 text-lg">{lead}</p>}
        {children && <div className="mt-6 flex flex-wrap gap-3 print:hidden">{children}</div>}
      </div>
    </div>
  );
}
