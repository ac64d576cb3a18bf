import { Link } from '@/components/link';
import { guideSlugs } from '@/content/guides';
import { pathIn, useLanguage } from '@/i18n/language';
import { useText } from '@/i18n/text';
import { site } from '@/site-config';

/** Links at the end of a guide: to the next one, and to share it. boot/share-and-alert.ts opens the system's share sheet. */
export function GuideEnd({ slug }: { slug: string }) {
  const language = useLanguage();
  const text = useText('guide');
  const at = guideSlugs.indexOf(slug as (typeof guideSlugs)[number]);
  const next = guideSlugs[(at + 1) % guideSlugs.length] ?? guideSlugs[0];
  const address = site.url + pathIn(language, `/learn/${slug}/`);
  const link =
    'bg-card flex min-h-11 cursor-pointer items-center gap-2 rounded-lg border px-3 font-semibold hover:bg-muted max-md:grow';

  return (
    <div className="page print:hidden mt-6 flex flex-wrap gap-3">
      <Link to={pathIn(language, `/learn/${next}/`)} className={`${link} text-primary w-full p-3`}>
        {`${text.next}: ${text.titles[next]} →`}
      </Link>
      <a href={`https://wa.me/?text=${address}`} target="_blank" rel="noreferrer" className={link}>
        {text.whatsapp}
      </a>
      <button type="button" data-share={text.copied} className={`${link} noscript:hidden`}>
        {text.share}
      </button>
    </div>
  );
}
