import { useEffect, useRef } from 'react';

/** Keys that act again while they are held. */
const repeated = ['j', 'k'];

/** Calls the action of a key, unless the person types (Escape leaves the field), a dialog is open, or a modifier is held. */
export function useKeys(actions: Record<string, () => void>) {
  const latest = useRef(actions);
  latest.current = actions;
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
      if (event.repeat && !repeated.includes(event.key)) return;
      const target = event.target as HTMLElement;
      if (target.closest('input, textarea, select, dialog, [contenteditable]')) {
        if (event.key === 'Escape' && !target.closest('dialog')) {
          event.preventDefault(); // the browser would clear the search
          target.blur();
        }
        return;
      }
      const action = latest.current[event.key];
      if (action) {
        event.preventDefault();
        action();
      }
    };
    window.addEventListener('keydown', press);
    return () => window.removeEventListener('keydown', press);
  }, []);
}
