/**
 * What differs from one installation to the next. Nothing of it is compiled in: prerendered pages
 * carry these placeholders, the gateway fills them when it starts, and the browser reads the filled
 * values from the page itself, so that both sides render the same text.
 */
export interface SiteConfig {
  /** Public origin, without a trailing slash. */
  url: string;
  /** International digits only, as wa.me wants them. */
  whatsappNumber: string;
  contactEmail: string;
  facebookUrl: string;
}

const placeholders: SiteConfig = {
  url: '__SITE_URL__',
  whatsappNumber: '__WHATSAPP_NUMBER__',
  contactEmail: '__CONTACT_EMAIL__',
  facebookUrl: '__FACEBOOK_URL__',
};

function readSiteConfig(): SiteConfig {
  if (typeof document === 'undefined') return placeholders;
  const block = document.getElementById('site-config');
  return block?.textContent ? JSON.parse(block.textContent) : placeholders;
}

export const site = readSiteConfig();

export const emailLink = `mailto:${site.contactEmail}`;

/** A chat with the organisation, optionally with the first message already written. */
export function whatsappLink(message?: string) {
  const text = message ? `?text=${encodeURIComponent(message)}` : '';
  return `https://wa.me/${site.whatsappNumber}${text}`;
}
