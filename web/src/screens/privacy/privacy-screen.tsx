import { Mail, MessageCircle } from 'lucide-react';
import { PageHero } from '@/components/page-hero';
import { buttonVariants } from '@/components/ui/button';
import { useText } from '@/i18n/text';
import { PageMeta } from '@/layout/page-meta';
import { emailLink, whatsappLink } from '@/site-config';

export function PrivacyScreen() {
  const text = useText('privacy');
  return (
    <>
      <PageMeta title={text.title} description={text.description} />
      <PageHero title={text.heading} lead={text.summary}>
        <p className="text-muted-foreground">{text.updated}</p>
      </PageHero>
      <div className="page grid gap-8 lg:grid-cols-[minmax(0,42rem)_1fr] lg:gap-10">
        {/* Beside the text on a wide screen. */}
        <nav
          aria-label={text.contents}
          className="bg-muted rounded-2xl p-5 lg:sticky lg:top-24 lg:order-1 lg:self-start"
        >
          <p className="font-semibold">{text.contents}</p>
          <ol className="list-decimal ps-5">
            {text.sections.map(({ title }, at) => (
              <li key={title}>
                <a href={`#s${at + 1}`} className="text-primary inline-flex min-h-11 items-center underline">
                  {title}
                </a>
              </li>
            ))}
          </ol>
        </nav>
        <div className="prose-width grid gap-8">
          <p>{text.lead}</p>
          {text.sections.map(({ title, paragraphs }, at) => (
            <section key={title} id={`s${at + 1}`}>
              <h2>{title}</h2>
              {paragraphs.map((paragraph) => (
                <p key={paragraph} className="mt-2">
                  {paragraph}
                </p>
              ))}
            </section>
          ))}
          <div className="flex flex-wrap gap-3">
            <a href={emailLink} className={buttonVariants({ className: 'max-md:grow' })}>
              <Mail aria-hidden />
              {text.email}
            </a>
            <a
              href={whatsappLink()}
              className={buttonVariants({ variant: 'outline', className: 'max-md:grow' })}
            >
              <MessageCircle aria-hidden />
              {text.whatsapp}
            </a>
          </div>
        </div>
      </div>
    </>
  );
}
