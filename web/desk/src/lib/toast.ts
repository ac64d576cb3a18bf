/** A message that is shown above the screens for a while. */
export interface Toast {
  id: string; // a message takes the place of an earlier one with its id
  kind: 'done' | 'failed';
  words: string;
  action?: { label: string; run: () => void };
}

/** Milliseconds for which a message is shown: an error waits for a reader who looks elsewhere. */
const times = { done: 4_000, failed: 10_000 };

/** Keeps the messages that are shown, and removes each after its time. */
export function toasts() {
  let shown: readonly Toast[] = [];
  let count = 0;
  const timers = new Map<string, ReturnType<typeof setTimeout>>();
  const listeners = new Set<() => void>();
  const put = (next: readonly Toast[]) => {
    shown = next;
    for (const heard of listeners) heard();
  };
  const dismiss = (id: string) => {
    clearTimeout(timers.get(id));
    timers.delete(id);
    put(shown.filter((each) => each.id !== id));
  };
  const show = (toast: Omit<Toast, 'id'>, { id = `${++count}`, time = times[toast.kind] } = {}) => {
    clearTimeout(timers.get(id));
    timers.set(
      id,
      setTimeout(() => dismiss(id), time),
    );
    put([...shown.filter((each) => each.id !== id), { ...toast, id }]);
  };
  return {
    dismiss,
    /** Removes the errors: their reader acts again. */
    dismissErrors: () => {
      for (const { id, kind } of shown) if (kind === 'failed') dismiss(id);
    },
    success: (words: string, options: { id?: string; time?: number; action?: Toast['action'] } = {}) =>
      show({ kind: 'done', words, action: options.action }, options),
    error: (words: string) => show({ kind: 'failed', words }),
    shown: () => shown,
    subscribe: (heard: () => void) => {
      listeners.add(heard);
      return () => void listeners.delete(heard);
    },
  };
}

/** The messages of this tab. */
export const toast = toasts();
