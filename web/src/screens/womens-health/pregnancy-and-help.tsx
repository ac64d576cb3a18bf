import { WithNumbers } from '@/components/with-numbers';
import { useText } from '@/i18n/text';

/** What matters in pregnancy and while breastfeeding, and where to call. */
export function PregnancyAndHelp() {
  const text = useText('womens-health');
  const { danger } = useText('guide');
  return (
    <section className="page pb-10 md:pb-14" aria-labelledby="family">
      <h2 id="family">{text.familyTitle}</h2>
      <div className="mt-6 grid gap-x-8 gap-y-6 md:grid-cols-2">
        {[text.family.pregnancy, text.family.breastfeeding].map(({ title, items }) => (
          <div key={title}>
            <h3>{title}</h3>
            <ul className="checklist mt-3">
              {items.map((item) => (
                <li key={item}>{item}</li>
              ))}
            </ul>
          </div>
        ))}
      </div>
      <div className="bg-destructive-soft border-destructive mt-6 rounded-2xl border p-5">
        <h3>{text.helpTitle}</h3>
        <dl className="mt-2 grid gap-x-8 gap-y-2 md:grid-cols-2">
          <div>
            <dt className="font-semibold">{danger.somalia}</dt>
            <dd>
              <WithNumbers text={danger.somaliaHelp} />
            </dd>
          </div>
          <div>
            <dt className="font-semibold">{danger.toronto}</dt>
            <dd>
              <WithNumbers text={danger.torontoHelp} className="inline-block wrap-anywhere" />
            </dd>
          </div>
        </dl>
        <p className="mt-2 font-semibold">{danger.notAmbulance}</p>
      </div>
    </section>
  );
}
