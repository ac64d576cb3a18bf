import { type LogLine, operate } from '@desk/backend/system';
import { attempt } from '@desk/components/attempt';
import { Button } from '@desk/components/button';
import { useText } from '@desk/i18n/language';
import { useState } from 'react';
import { cn } from '@/components/cn';
import { isAlarming, newestLines } from './state';

/** The log of the functions, read when asked for. */
export function FunctionLog() {
  const text = useText();
  const [lines, setLines] = useState<LogLine[]>();
  const read = async () => setLines(await attempt(text, () => operate<LogLine[]>('function-logs')));
  return (
    <div className="mt-3 flex flex-col items-start gap-2">
      <Button variant="outline" onClick={read}>
        {text.system.readLogs}
      </Button>
      {lines?.length === 0 && <p>{text.system.noLogs}</p>}
      {lines && lines.length > 0 && (
        <section
          className="bg-muted max-h-80 w-full overflow-auto rounded p-2"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys scroll the log
          tabIndex={0}
          aria-label={text.system.log}
        >
          <pre className="text-xs">
            {newestLines(lines).map((line) => (
              <span key={line.n} className={cn('block', isAlarming(line) && 'text-destructive')}>
                {line.text}
              </span>
            ))}
          </pre>
        </section>
      )}
    </div>
  );
}
