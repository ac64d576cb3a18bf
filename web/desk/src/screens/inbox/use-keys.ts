import { useEffect, useRef } from 'react';
import { keyEffect } from './key-effect';

/** Calls the actions of keys. Escape leaves a field. */
export function useKeys(actions: Record<string, () => void>) {
  const latest = useRef(actions);
  latest.current = actions;
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      const effect = keyEffect(event, target);
      const action = effect === 'leave' ? () => target.blur() : latest.current[event.key];
      if (effect === 'none' || !action) return;
      event.preventDefault(); // on Escape the browser would clear the search
      action();
    };
    window.addEventListener('keydown', press);
    return () => window.removeEventListener('keydown', press);
  }, []);
}
