import { useEffect, useRef } from 'react';
import { useLocation, useNavigationType } from 'react-router-dom';

/**
 * After a navigation without a new document, does what a browser does with one: shows the top of the page, or
 * the place that the address names, and lets reading begin there. Going back is left to the browser.
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
