import { BookOpen, Download, MessageCircle, ThumbsUp } from 'lucide-react';
import { Link } from '@/components/link';
import { Button, buttonVariants } from '@/components/ui/button';
import { Card } from '@/components/ui/card';
import { pathIn, useLanguage } from '@/i18n/language';
import { useText } from '@/i18n/text';
import { WomanPicture } from '@/illustrations/woman-picture';
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
    <div className="page grid gap-4 pt-10 md:grid-cols-2 md:pt-14">
      <section className="bg-rose-soft items-center gap-8 rounded-2xl p-6 md:col-span-2 md:flex md:p-8">
        <div>
          <h2 className="text-rose">{text.beautyTitle}</h2>
          <p className="prose-width mt-2 text-lg">{text.beauty}</p>
        </div>
        <div className="mx-auto mt-4 w-[min(9rem,45vw)] shrink-0 md:mt-0 md:w-56">
          <WomanPicture />
        </div>
      </section>
      <Card>
        <h2>{text.communityTitle}</h2>
        <p>{text.community}</p>
        <div className="grid gap-3">
          <a
            href={whatsappLink()}
            className={buttonVariants({ variant: 'outline', className: 'justify-start text-start' })}
          >
            <MessageCircle aria-hidden />
            {text.whatsapp}
          </a>
          <a
            href={site.facebookUrl}
            className={buttonVariants({ variant: 'outline', className: 'justify-start text-start' })}
          >
            <ThumbsUp aria-hidden />
            {text.facebook}
          </a>
        </div>
      </Card>
      <Card>
        <h2>{text.readTitle}</h2>
        <ul className="grid gap-3">
          {guides.map(({ slug, name }) => (
            <li key={slug}>
              <Link
                to={pathIn(language, `/learn/${slug}/`)}
                className={buttonVariants({ className: 'w-full justify-start text-start' })}
              >
                <BookOpen aria-hidden />
                {name}
              </Link>
            </li>
          ))}
        </ul>
        {/* The inline script of every page shows the alert, so that it also works before hydration. */}
        <Button
          variant="outline"
          type="button"
          data-alert={text.downloadAlert}
          className="justify-start text-start noscript:hidden"
        >
          <Download aria-hidden />
          {text.download}
        </Button>
      </Card>
    </div>
  );
}
