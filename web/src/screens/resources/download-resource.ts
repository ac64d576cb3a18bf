import { trackDownload } from '@/backend/downloads';
import type { Resource } from '@/backend/resources';
import { prepareToast, toast } from '@/components/toast';
import type { Dictionary } from '@/i18n/en';

type Toasts = Dictionary['resources']['toasts'];

/** Counts the download, then opens the file or shows 'Coming Soon'. */
export async function downloadResource(resource: Resource, title: string, toasts: Toasts) {
  prepareToast();
  try {
    await trackDownload(resource.id);
  } catch {
    toast({ ...toasts.trackFailed, variant: 'destructive' });
  }
  const about = (message: { title: string; description: string }) =>
    toast({ ...message, description: message.description.replace('{title}', title) });
  const address = fileAddress(resource.file_url);
  if (!address) return about(toasts.comingSoon);
  about(toasts.started);
  open(address);
}

/**
 * Returns the address of a file: a path on this site or a web address. Returns undefined if there is no file yet ('#'),
 * and for a text that no browser may open, such as an imported javascript: address.
 */
export function fileAddress(fileUrl: string): string | undefined {
  if (!fileUrl.trim() || fileUrl.startsWith('#')) return undefined;
  try {
    const { protocol, href } = new URL(fileUrl, location.origin);
    return /^https?:$/.test(protocol) ? href : undefined;
  } catch {
    return undefined; // no address at all
  }
}

/**
 * Clicks a link to the file, because browsers block a window that is opened after a wait. The download attribute keeps
 * the page and its toasts open.
 */
function open(url: string) {
  Object.assign(document.createElement('a'), { href: url, download: '' }).click();
}
