import { useText } from '@desk/i18n/language';
import { toast } from '@desk/lib/toast';
import { CircleAlert, CircleCheck, X } from 'lucide-react';
import { useSyncExternalStore } from 'react';
import { Button } from './button';

/**
 * The place of messages, above the bar of a phone. A screen reader hears them where they are; the
 * Tab key passes them like any other control.
 */
export function Toasts() {
  const text = useText();
  const shown = useSyncExternalStore(toast.subscribe, toast.shown);
  return (
    <section
      aria-label={text.messages}
      aria-live="polite"
      className="no-print pointer-events-none fixed inset-x-3 bottom-18 z-20 flex flex-col items-end gap-2 md:bottom-5 md:left-auto md:w-96"
    >
      {shown.map(({ id, kind, words, action }) => (
        <div
          key={id}
          className="bg-card pointer-events-auto flex w-full items-center gap-2 rounded-lg border py-2 ps-3 pe-2 text-sm shadow-lg motion-safe:transition motion-safe:starting:translate-y-2 motion-safe:starting:opacity-0"
        >
          {kind === 'done' ? (
            <CircleCheck aria-hidden="true" className="text-done size-4.5 shrink-0" />
          ) : (
            <CircleAlert aria-hidden="true" className="text-destructive size-4.5 shrink-0" />
          )}
          <p className="min-w-0 flex-1 wrap-anywhere">{words}</p>
          {action && (
            <Button variant="outline" onClick={action.run}>
              {action.label}
            </Button>
          )}
          {kind === 'failed' && (
            <Button variant="ghost" aria-label={text.close} onClick={() => toast.dismiss(id)}>
              <X aria-hidden="true" className="size-4!" />
            </Button>
          )}
        </div>
      ))}
    </section>
  );
}
