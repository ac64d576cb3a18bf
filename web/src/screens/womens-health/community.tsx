import { BookOpen, Download, MessageCircle, ThumbsUp } from 'lucide-react';
import { Link } from '@/components/link';
import { Button, buttonVariants } from '@/components/ui/button';
import { Card } from '@/components/ui/card';
import { pathIn, useLanguage } from '@/i18n/language';
import { useText } from '@/i18n/text';
import { site, whatsappLink } from '@/site-config';

/** The message about beauty, the community links and the guide to download. */
export function Community() {
  const language = useLanguage();
  const text = useText('womens-health');
  const guides = [
    { slug: 'skin-cream-dangers', name: text.readCreams },
    { slug: 'pregnancy-medicine', name: text.readPregnancy },
  ];

  return (
    <div className="page grid gap-6 pt-10 md:grid-cols-2 md:pt-14">
      <section className="bg-rose-soft rounded-2xl p-6 md:col-span-2 md:p-8">
        <h2 className="text-rose">{text.beautyTitle}</h2>
        <p className="prose-width mt-2 text-lg">{text.beauty}</p>
      </section>
      <Card>
        <h2>{text.communityTitle}</h2>
        <p>{text.community}</p>
        <div className="flex flex-wrap gap-3">
          <a href={whatsappLink()} className={buttonVariants()}>
            <MessageCircle aria-hidden />
            {text.whatsapp}
          </a>
          <a href={site.facebookUrl} className={buttonVariants({ variant: 'outline' })}>
            <ThumbsUp aria-hidden />
            {text.facebook}
          </a>
        </div>
      </Card>
      <Card>
        <h2>{text.readTitle}</h2>
        <ul className="grid gap-2">
          {guides.map(({ slug, name }) => (
            <li key={slug}>
              <Link
                to={pathIn(language, `/learn/${slug}/`)}
                className="text-primary inline-flex min-h-11 items-center gap-2 font-semibold underline"
              >
                <BookOpen aria-hidden className="size-5 shrink-0" />
                {name}
              </Link>
            </li>
          ))}
        </ul>
        {/* The inline script of every page shows the alert, so that it also works before hydration. */}
        <Button variant="henna" type="button" data-alert={text.downloadAlert} className="noscript:hidden">
          <Download aria-hidden />
          {text.download}
        </Button>
      </Card>
    </div>
  );
}
