import { patience, supabase } from './client';

/** Counts one download. Throws when it could not be counted. */
export async function trackDownload(resourceId: string): Promise<void> {
  const client = await supabase();
  const { error } = await client.functions.invoke('track-download', {
    body: { resourceId },
    timeout: patience,
  });
  if (error) throw error;
}
