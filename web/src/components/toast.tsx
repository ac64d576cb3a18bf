import { useSyncExternalStore } from 'react';
import { fullStyles } from '@/lib/full-styles';
import { inTime, partTimeout } from '@/lib/in-time';
import { lateModule } from '@/lib/late-module';

export interface Message {
  title: string;
  description: string;
  variant?: 'default' | 'destructive';
  /** Milliseconds, 10,000 by default. */
  duration?: number;
}

const sonner = lateModule(async () => {
  const [loaded] = await Promise.all([import('./ui/sonner'), fullStyles()]);
  return loaded;
});

/** Loads the toast code before the first toast, when an action starts that ends in one. */
export function prepareToast() {
  sonner.load().catch(() => {});
}

/** Shows a toast. If its code is missing, perhaps because the connection is lost, it shows an alert instead. */
export async function toast({ title, description, variant = 'default', duration }: Message) {
  try {
    const loaded = await inTime(sonner.load(), partTimeout, 'The import of toasts');
    loaded.toast[variant === 'destructive' ? 'error' : 'success'](title, { description, duration });
  } catch {
    alert(`${title}\n\n${description}`);
  }
}

/** Removes all toasts. */
export function dismissToasts() {
  sonner.current()?.toast.dismiss();
}

/**
 * The place of the toasts, mounted once in the layout and empty until the first. sonner shows toasts created before.
 */
export function LateToaster() {
  const Toaster = useSyncExternalStore(
    sonner.subscribe,
    () => sonner.current()?.Toaster,
    () => undefined,
  );
  return Toaster && <Toaster />;
}
