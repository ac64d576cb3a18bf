import { Droplets, Stethoscope, Sun } from 'lucide-react';
import { useText } from '@/i18n/text';

export function SafeAlternatives() {
  const text = useText('womens-health');
  const { sunscreen, moisturizers, consultation } = text.alternatives;
  const alternatives = [
    { ...sunscreen, Icon: Sun },
    { ...moisturizers, Icon: Droplets },
    { ...consultation, Icon: Stethoscope },
  ];

  return (
    <section className="bg-muted py-10 md:py-14" aria-labelledby="alternatives">
      <div className="page">
        <h2 id="alternatives">{text.alternativesTitle}</h2>
        <ul className="mt-6 grid gap-6 md:grid-cols-3">
          {alternatives.map(({ title, content, Icon }) => (
            <li key={title} className="flex gap-4">
              <Icon aria-hidden className="text-primary size-9 shrink-0" />
              <div>
                <h3>{title}</h3>
                <p className="mt-1">{content}</p>
              </div>
            </li>
          ))}
        </ul>
      </div>
    </section>
  );
}
