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
      <div className="page">
        <div className="prose-width grid gap-8">
          <nav aria-label={text.contents} className="bg-muted rounded-2xl p-5">
            <p className="font-semibold">{text.contents}</p>
            <ol className="list-decimal ps-5">
              {text.sections.map(({ title }, at) => (
                <li key={title}>
                  <a
                    href={`#s${at + 1}`}
                    className="text-primary inline-flex min-h-11 items-center underline"
                  >
                    {title}
                  </a>
                </li>
              ))}
            </ol>
          </nav>
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
            <a href={emailLink} className={buttonVariants()}>
              <Mail aria-hidden />
              {text.email}
            </a>
            <a href={whatsappLink()} className={buttonVariants({ variant: 'outline' })}>
              <MessageCircle aria-hidden />
              {text.whatsapp}
            </a>
          </div>
        </div>
      </div>
    </>
  );
}
