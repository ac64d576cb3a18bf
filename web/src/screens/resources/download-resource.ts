import { trackDownload } from '@/backend/downloads';
import type { Resource } from '@/backend/resources';
import { prepareToast, toast } from '@/components/toast';
import type { Dictionary } from '@/i18n/en';

type Toasts = Dictionary['resources']['toasts'];

/** Counts the download, then fetches the file or says that it is still to come. */
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
 * Follows a link to the file, as a press would: a new window that is asked for after a wait is blocked. Marked
 * as a download, it leaves the page, and what the page has just said, where they are.
 */
function open(url: string) {
  Object.assign(document.createElement('a'), { href: url, download: '' }).click();
}
