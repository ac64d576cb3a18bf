import { Siren } from 'lucide-react';
import { WithNumbers } from '@/components/with-numbers';
import type { DangerSign } from '@/content/sources';
import { useText } from '@/i18n/text';

/** The danger signs of a guide, and the emergency numbers. */
export function DangerSigns({ signs }: { signs: readonly DangerSign[] }) {
  const { danger } = useText('guide');
  return (
    <section
      data-slot="danger"
      aria-labelledby="danger"
      className="bg-destructive-soft border-destructive rounded-2xl border p-5"
    >
      <h2 id="danger" className="text-destructive flex items-start gap-3 text-xl">
        <Siren aria-hidden className="mt-0.5 size-6 shrink-0" />
        {danger.title}
      </h2>
      <ul className="mt-3 list-disc ps-5">
        {signs.map((sign) => (
          <li key={sign}>{danger.signs[sign]}</li>
        ))}
      </ul>
      <p className="mt-3">{danger.action}</p>
      <dl className="mt-3">
        <dt className="font-semibold">{danger.somalia}</dt>
        <dd>
          <WithNumbers text={danger.somaliaHelp} />
        </dd>
        <dt className="mt-1 font-semibold">{danger.toronto}</dt>
        <dd>
          <WithNumbers text={danger.torontoHelp} />
        </dd>
      </dl>
      <p className="mt-3 font-semibold">{danger.notAmbulance}</p>
    </section>
  );
}
