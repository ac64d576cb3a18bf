import { ListChecks } from 'lucide-react';
import type { Guide } from '@/content/guides';
import { useText } from '@/i18n/text';

/** What to do now, then the guide in one minute. The printed guide has one sheet, and its content says the same. */
export function GuideStart({ guide }: { guide: Guide }) {
  const text = useText('guide');
  return (
    <div className="print:hidden mb-8 grid gap-6">
      <section
        data-slot="now"
        aria-labelledby="now"
        className="bg-primary-soft border-primary rounded-2xl border p-5"
      >
        <h2 id="now" className="text-primary flex items-start gap-3 text-xl">
          <ListChecks aria-hidden className="mt-0.5 size-6 shrink-0" />
          {text.now}
        </h2>
        <Lines lines={guide.now} ordered />
      </section>
      <section data-slot="minute" aria-labelledby="minute">
        <h2 id="minute" className="text-xl">
          {text.minute}
        </h2>
        <Lines lines={guide.minute} />
      </section>
    </div>
  );
}

function Lines({ lines, ordered }: { lines: readonly string[]; ordered?: boolean }) {
  const List = ordered ? 'ol' : 'ul';
  return (
    <List className={`mt-3 grid gap-2 ps-5 ${ordered ? 'list-decimal' : 'list-disc'}`}>
      {lines.map((line) => (
        <li key={line}>{line}</li>
      ))}
    </List>
  );
}
