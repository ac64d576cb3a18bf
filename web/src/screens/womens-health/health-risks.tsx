import { TriangleAlert } from 'lucide-react';
import { Badge } from '@/components/ui/badge';
import { Card, CardDescription, CardTitle } from '@/components/ui/card';
import { useText } from '@/i18n/text';

const severityColors = {
  high: 'bg-destructive-soft text-destructive',
  medium: 'bg-sun-soft text-sun-ink',
};

export function HealthRisks() {
  const text = useText('womens-health');
  const { mercury, steroids, hydroquinone } = text.risks;
  const risks = [
    { ...mercury, severity: 'high' },
    { ...steroids, severity: 'high' },
    { ...hydroquinone, severity: 'medium' },
  ] as const;

  return (
    <section className="page py-10 md:py-14" aria-labelledby="risks">
      <h2 id="risks">{text.risksTitle}</h2>
      <ul className="mt-6 grid gap-4 lg:grid-cols-3">
        {risks.map(({ title, content, severity }) => (
          <li key={title}>
            <Card className="h-full">
              <Badge className={severityColors[severity]}>
                <TriangleAlert aria-hidden className="size-4" />
                {text.severity[severity]}
              </Badge>
              <CardTitle>{title}</CardTitle>
              <CardDescription>{content}</CardDescription>
            </Card>
          </li>
        ))}
      </ul>
    </section>
  );
}
