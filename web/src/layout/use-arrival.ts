import { useEffect, useRef } from 'react';
import { useLocation, useNavigationType } from 'react-router-dom';

/**
 * After a client-side navigation, scrolls to the top or to the fragment of the address and moves the focus to the
 * content, as a browser does with a new document. When going back, the browser restores the scroll position.
 */
export function useArrival() {
  const { pathname, hash } = useLocation();
  const type = useNavigationType();
  const before = useRef(pathname);

  useEffect(() => {
    if (before.current === pathname) return;
    before.current = pathname;
    const target = hash ? document.getElementById(decodeURIComponent(hash.slice(1))) : null;
    if (target) target.scrollIntoView();
    else if (type !== 'POP') scrollTo({ top: 0, behavior: 'instant' });
    if (!target) document.getElementById('main')?.focus({ preventScroll: true });
  }, [pathname, hash, type]);
}
