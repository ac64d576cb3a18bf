import { Link } from '@/components/link';
import { PageHero } from '@/components/page-hero';
import { buttonVariants } from '@/components/ui/button';
import { pathIn, useLanguage } from '@/i18n/language';
import { useText } from '@/i18n/text';
import { CamelPicture } from '@/illustrations/camel-picture';
import { headerLinks } from '@/layout/navigation';
import { PageMeta } from '@/layout/page-meta';

const [home, ...others] = headerLinks;

/** The service worker's reply for a page that is neither kept nor reachable. It is shown at the address of that page. */
export function OfflineScreen() {
  const language = useLanguage();
  const text = useText('offline');
  const { nav } = useText('layout');
  return (
    <div data-offline-page>
      <PageMeta title={text.title} description={text.description} noindex />
      <PageHero alone title={text.title} lead={text.hint} picture={<CamelPicture />}>
        <p className="w-full">{text.kept}</p>
        <Link to={pathIn(language, home.path)} className={buttonVariants()}>
          {nav[home.name]}
        </Link>
        {others.map(({ path, name }) => (
          <Link key={path} to={pathIn(language, path)} className={buttonVariants({ variant: 'outline' })}>
            {nav[name]}
          </Link>
        ))}
      </PageHero>
    </div>
  );
}
