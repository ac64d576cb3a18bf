import { CircleAlert, CircleCheck, X } from 'lucide-react';
import { useEffect, useSyncExternalStore } from 'react';
import { useText } from '@/i18n/text';
import { cn } from './cn';

/*
 * Small messages in a corner. Written here rather than taken from a package because the ones that matter most
 * say that the network is gone: showing them must not need a download.
 */
export interface Toast {
  title: string;
  description: string;
  variant?: 'default' | 'destructive';
}

interface Shown extends Toast {
  id: number;
}

const life = 8000;
let shown: readonly Shown[] = [];
let nextId = 1;
const listeners = new Set<() => void>();

export function toast(message: Toast) {
  change([...shown.slice(-2), { ...message, id: nextId++ }]);
}

function dismiss(id: number) {
  change(shown.filter((each) => each.id !== id));
}

function change(next: readonly Shown[]) {
  shown = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const none: readonly Shown[] = [];

/** The place where toasts appear; mounted once, in the layout. */
export function Toaster() {
  const toasts = useSyncExternalStore(
    subscribe,
    () => shown,
    () => none,
  );
  const { notifications } = useText('layout');
  return (
    <section
      aria-label={notifications}
      aria-live="polite"
      className="fixed inset-x-4 bottom-4 z-50 grid justify-items-end gap-2 sm:start-auto sm:w-96"
    >
      {toasts.map((each) => (
        <ToastCard key={each.id} toast={each} />
      ))}
    </section>
  );
}

function ToastCard({ toast: { id, title, description, variant } }: { toast: Shown }) {
  const { dismiss: dismissLabel } = useText('layout');
  useEffect(() => {
    const timer = setTimeout(() => dismiss(id), life);
    return () => clearTimeout(timer);
  }, [id]);
  const failed = variant === 'destructive';
  const Icon = failed ? CircleAlert : CircleCheck;

  return (
    <div
      data-slot="toast"
      className={cn(
        'grid w-full grid-cols-[auto_1fr_auto] gap-3 rounded-2xl border p-4 raised',
        failed ? 'bg-destructive-soft border-destructive' : 'bg-primary-soft border-primary',
      )}
    >
      <Icon aria-hidden className={cn('mt-0.5 size-5', failed ? 'text-destructive' : 'text-primary')} />
      <div>
        <p className="font-semibold">{title}</p>
        <p>{description}</p>
      </div>
      <button
        type="button"
        aria-label={dismissLabel}
        onClick={() => dismiss(id)}
        className="hover:bg-muted -m-2 grid size-11 place-items-center rounded-lg"
      >
        <X aria-hidden className="size-5" />
      </button>
    </div>
  );
}
