import { PageHero } from '@/components/page-hero';
import { useText } from '@/i18n/text';
import { PageMeta } from '@/layout/page-meta';
import { Community } from './community';
import { HealthRisks } from './health-risks';
import { PregnancyAndHelp } from './pregnancy-and-help';
import { SafeAlternatives } from './safe-alternatives';

export function WomensHealthScreen() {
  const text = useText('womens-health');
  const { unsafe, risks, prevention } = text.statistics;
  const statistics = [
    { figure: '85%', ...unsafe },
    { figure: '60%', ...risks },
    { figure: '95%', ...prevention },
  ];

  return (
    <>
      <PageMeta title={text.title} description={text.description} image="women-health" />
      <PageHero title={text.heading} lead={text.lead} />
      <div className="page">
        <dl className="grid gap-4 sm:grid-cols-3">
          {statistics.map(({ figure, name, counts }) => (
            <div key={figure} className="flex flex-col border-s-4 ps-4">
              <dt className="order-2 font-semibold">{name}</dt>
              <dd className="text-rose order-1 shrink-0 font-serif text-3xl font-semibold">{figure}</dd>
              <dd className="text-muted-foreground order-3 text-sm">{counts}</dd>
            </div>
          ))}
        </dl>
        <p className="text-muted-foreground mt-3 text-sm">{text.figures}</p>
        <p className="prose-width mt-4">{text.study}</p>
      </div>
      <HealthRisks />
      <PregnancyAndHelp />
      <SafeAlternatives />
      <Community />
    </>
  );
}
