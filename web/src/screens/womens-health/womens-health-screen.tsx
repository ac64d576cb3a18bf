import { PageHero } from '@/components/page-hero';
import { useText } from '@/i18n/text';
import { PageMeta } from '@/layout/page-meta';
import { Community } from './community';
import { HealthRisks } from './health-risks';
import { SafeAlternatives } from './safe-alternatives';

export function WomensHealthScreen() {
  const text = useText('womens-health');
  const { unsafe, risks, prevention } = text.statistics;
  const statistics = [
    { figure: '85%', name: unsafe },
    { figure: '60%', name: risks },
    { figure: '95%', name: prevention },
  ];

  return (
    <>
      <PageMeta title={text.title} description={text.description} image="women-health" />
      <PageHero title={text.heading} lead={text.lead} />
      <div className="page">
        <dl className="grid gap-4 sm:grid-cols-3">
          {statistics.map(({ figure, name }) => (
            <div
              key={figure}
              className="bg-card flex flex-row-reverse items-center justify-end gap-4 rounded-2xl border p-4 sm:flex-col-reverse sm:items-start"
            >
              <dt className="text-lg">{name}</dt>
              <dd className="text-rose shrink-0 font-serif text-4xl font-semibold md:text-5xl">{figure}</dd>
            </div>
          ))}
        </dl>
        <p className="text-muted-foreground mt-2 text-sm">{text.figures}</p>
        <p className="prose-width mt-4">{text.study}</p>
      </div>
      <HealthRisks />
      <SafeAlternatives />
      <Community />
    </>
  );
}
