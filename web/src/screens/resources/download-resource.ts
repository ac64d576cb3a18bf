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
  if (resource.file_url === '#') return about(toasts.comingSoon);
  about(toasts.started);
  open(resource.file_url);
}

/**
 * Clicks a link to the file, because browsers block a window that is opened after a wait. The download attribute keeps
 * the page and its toasts open.
 */
function open(url: string) {
  Object.assign(document.createElement('a'), { href: url, download: '' }).click();
}
