import { readTimeout, supabase } from './client';
import { functionsOf } from './functions.types';

/** Counts one download. Throws if that fails. */
export async function trackDownload(resourceId: string): Promise<void> {
  const client = await supabase();
  const { error } = await functionsOf(client).invoke('track-download', {
    body: { resourceId },
    timeout: readTimeout,
  });
  if (error) throw error;
}
