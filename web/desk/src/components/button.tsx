import type { ComponentProps } from 'react';
import { cn } from '@/components/cn';
import { Button as SiteButton } from '@/components/ui/button';

/** The site's button, in the desk's denser size. Touch screens keep the full height. */
export function Button({ className, ...props }: ComponentProps<typeof SiteButton>) {
  return (
    <SiteButton
      type="button"
      className={cn('pointer-fine:min-h-9 px-3! py-1! text-sm', className)}
      {...props}
    />
  );
}

/** The classes of a link that looks like an outlined button. */
export const linkButton =
  'bg-card border-input hover:bg-muted inline-flex min-h-11 items-center gap-2 rounded-lg border px-3 text-sm font-semibold pointer-fine:min-h-9';
