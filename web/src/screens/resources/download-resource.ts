import { trackDownload } from '@/backend/downloads';
import type { Resource } from '@/backend/resources';
import { toast } from '@/components/toast';
import type { Dictionary } from '@/i18n/en';

type Toasts = Dictionary['resources']['toasts'];

/**
 * Counts the download, then opens the file or says that it is still to come. The file is opened by navigating
 * to it: a new window that is asked for after a wait is blocked.
 */
export async function downloadResource(resource: Resource, title: string, toasts: Toasts) {
  try {
    await trackDownload(resource.id);
  } catch {
    toast({ ...toasts.trackFailed, variant: 'destructive' });
  }
  const about = (message: { title: string; description: string }) =>
    toast({ ...message, description: message.description.replace('{title}', title) });
  if (resource.file_url === '#') return about(toasts.comingSoon);
  about(toasts.started);
  location.assign(resource.file_url);
}
