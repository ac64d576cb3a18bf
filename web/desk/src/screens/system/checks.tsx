import type { Finding } from '@desk/backend/system';
import { useText } from '@desk/i18n/language';
import { cn } from '@/components/cn';
import { Operation } from './operation';

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
        <dl
          lang="en"
          className="grid items-baseline gap-x-4 gap-y-1 text-sm grid-cols-[auto_1fr] sm:grid-cols-[auto_auto_1fr]"
        >
          {findings.map((f) => (
            <div key={f.What + f.Says} className="contents">
              <dt>
                <span
                  className={cn(
                    'inline-block rounded px-1.5 text-xs font-semibold',
                    tones[f.Verdict] ?? 'bg-muted text-muted-foreground',
                  )}
                >
                  {f.Verdict}
                </span>
              </dt>
              <dd className="font-semibold">{f.What}</dd>
              <dd className="text-muted-foreground wrap-anywhere max-sm:col-span-2 max-sm:mb-2">{f.Says}</dd>
            </div>
          ))}
        </dl>
      )}
    </Operation>
  );
}
