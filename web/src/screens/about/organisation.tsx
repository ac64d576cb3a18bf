import { useText } from '@/i18n/text';
import { site } from '@/site-config';

/** Who stands behind the site. Parts that the installation does not name are hidden; the pages are prerendered with all. */
export function Organisation() {
  const { organisation: text } = useText('about');
  const parts = [
    { title: text.people, value: site.people },
    { title: text.address, value: site.address },
    { title: text.partners, value: site.partners },
    { title: text.reviewers, value: site.reviewers },
  ];
  return (
    <section className="page pt-10" aria-labelledby="organisation">
      <h2 id="organisation">{text.title}</h2>
      <p className="mt-3">{text.content}</p>
      <div className="mt-6 grid gap-6 sm:grid-cols-2">
        {parts.map(({ title, value }) => (
          <div key={title} data-value={value} className="unset:hidden">
            <h3>{title}</h3>
            <p className="whitespace-pre-line">{value}</p>
          </div>
        ))}
      </div>
    </section>
  );
}
