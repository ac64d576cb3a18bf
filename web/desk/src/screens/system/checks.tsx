import type { Finding } from '@desk/backend/system';
import { useText } from '@desk/i18n/language';
import { cn } from '@/components/cn';
import { Operation } from './operation';
import { partsOf, wordOf } from './says';

const tones: Record<string, string> = {
  ok: 'bg-done-soft text-done',
  warn: 'bg-sun-soft text-sun-ink',
  BAD: 'bg-destructive-soft text-destructive',
};

/** The findings of doctor. */
export function Checks({ times }: { times: number }) {
  const text = useText();
  return (
    <Operation<Finding[]> times={times} title={text.system.doctor} name="doctor">
      {(findings) => (
        <dl className="grid items-baseline gap-x-4 gap-y-1 text-sm grid-cols-[auto_1fr] sm:grid-cols-[auto_auto_1fr]">
          {findings.map((f) => (
            <div key={f.What + f.Says} className="contents">
              <dt>
                <span
                  className={cn(
                    'inline-block rounded px-1.5 text-xs font-semibold',
                    tones[f.Verdict] ?? 'bg-muted text-muted-foreground',
                  )}
                >
                  {wordOf(f.Verdict, text.checks.verdicts)}
                </span>
              </dt>
              <dd className="font-semibold">{wordOf(f.What, text.checks.names)}</dd>
              <dd className="text-muted-foreground wrap-anywhere max-sm:col-span-2 max-sm:mb-2">
                {partsOf(f, text.checks.says).map((part, i) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a sentence stay in their order
                  <span key={i} lang={part.english ? 'en' : undefined}>
                    {part.text}
                  </span>
                ))}
              </dd>
            </div>
          ))}
        </dl>
      )}
    </Operation>
  );
}
