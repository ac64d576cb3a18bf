/** The links of the header, in order. */
export const headerLinks = [
  { path: '/', name: 'home' },
  { path: '/learn/', name: 'learn' },
  { path: '/women-health/', name: 'womensHealth' },
  { path: '/report/', name: 'report' },
  { path: '/resources/', name: 'resources' },
  { path: '/about/', name: 'about' },
  { path: '/contact/', name: 'contact' },
] as const;

/** The links of the footer. */
export const footerLinks = [...headerLinks, { path: '/privacy/', name: 'privacy' }] as const;
