import { type ComponentType, useSyncExternalStore } from 'react';

export interface Message {
  title: string;
  description: string;
  variant?: 'default' | 'destructive';
}

let arriving: Promise<typeof import('./ui/sonner')> | undefined;
let Toaster: ComponentType | undefined;
const waiting = new Set<() => void>();

function loadToaster() {
  arriving ??= import('./ui/sonner').then((sonner) => {
    Toaster = sonner.Toaster;
    for (const show of waiting) show();
    return sonner;
  });
  arriving.catch(() => {
    arriving = undefined;
  });
  return arriving;
}

/** Fetches what shows toasts ahead of the first, when a reader begins something that will end in one. */
export function prepareToast() {
  loadToaster().catch(() => {});
}

/** Shows a small message in a corner. One that says that the line is gone may not get lost with the line. */
export async function toast({ title, description, variant = 'default' }: Message) {
  try {
    const sonner = await loadToaster();
    sonner.toast[variant === 'destructive' ? 'error' : 'success'](title, { description });
  } catch {
    alert(`${title}\n\n${description}`);
  }
}

/** Where toasts appear: mounted once, in the layout, and empty until there is one. sonner repeats what it missed. */
export function LateToaster() {
  const Loaded = useSyncExternalStore(
    subscribe,
    () => Toaster,
    () => undefined,
  );
  return Loaded && <Loaded />;
}

function subscribe(show: () => void) {
  waiting.add(show);
  return () => waiting.delete(show);
}
