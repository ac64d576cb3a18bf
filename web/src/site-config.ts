/**
 * The values of one installation. They are not compiled in: prerendered pages contain placeholders, the gateway fills
 * them when it starts, and the browser reads the values from the page, so that hydration matches.
 */
export interface SiteConfig {
  /** Public origin without a trailing slash. */
  url: string;
  /** International number, digits only, for wa.me. */
  whatsappNumber: string;
  contactEmail: string;
  facebookUrl: string;
  /** Who stands behind the site: texts of one or more lines, empty if the installation does not name them. */
  people: string;
  address: string;
  partners: string;
  reviewers: string;
}

const placeholders: SiteConfig = {
  url: '__SITE_URL__',
  whatsappNumber: '__WHATSAPP_NUMBER__',
  contactEmail: '__CONTACT_EMAIL__',
  facebookUrl: '__FACEBOOK_URL__',
  people: '__ORGANISATION_PEOPLE__',
  address: '__ORGANISATION_ADDRESS__',
  partners: '__ORGANISATION_PARTNERS__',
  reviewers: '__ORGANISATION_REVIEWERS__',
};

function readSiteConfig(): SiteConfig {
  if (typeof document === 'undefined') return placeholders;
  const block = document.getElementById('site-config');
  return block?.textContent ? JSON.parse(block.textContent) : placeholders;
}

export const site = readSiteConfig();

export const emailLink = `mailto:${site.contactEmail}`;

/** Returns a link to a chat with the organisation, optionally with the text of the first message. */
export function whatsappLink(message?: string) {
  const text = message ? `?text=${encodeURIComponent(message)}` : '';
  return `https://wa.me/${site.whatsappNumber}${text}`;
}
