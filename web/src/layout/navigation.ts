/** The header's links, in their order. */
export const headerLinks = [
  { path: '/', name: 'home' },
  { path: '/learn/', name: 'learn' },
  { path: '/women-health/', name: 'womensHealth' },
  { path: '/report/', name: 'report' },
  { path: '/resources/', name: 'resources' },
  { path: '/about/', name: 'about' },
  { path: '/contact/', name: 'contact' },
] as const;

/** The footer has them too, and privacy. */
export const footerLinks = [...headerLinks, { path: '/privacy/', name: 'privacy' }] as const;
