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
      <PageHero
        title={text.heading}
        lead={text.lead}
        above={<p className="font-semibold">{text.updated}</p>}
      />
      <div className="page">
        <div className="prose-width grid gap-8">
          {text.sections.map(({ title, paragraphs }) => (
            <section key={title}>
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
