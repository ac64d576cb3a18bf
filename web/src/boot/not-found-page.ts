/* The only script of a 404 page, inlined in it. */
import './content-page';
import { arrived } from './document-arrival';

const { pathname } = location;
console.error('404: no page at', pathname);
// The 404 page is prerendered without its path.
arrived.then(() => {
  const other = document.querySelector<HTMLAnchorElement>('header a[hreflang]');
  if (other) other.href = other.hreflang === 'so' ? `/so${pathname}` : pathname.slice(3);
});
