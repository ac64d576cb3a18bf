import type { PostgrestClient } from '@supabase/postgrest-js';
import { inTime } from '@/lib/in-time';
import { findBackend, readTimeout, supabase } from './client';
import type { Database } from './database.types';
import { hasSession } from './has-session';

/**
 * A row of `resources`. `file_url` is a path on this site, the address of a file elsewhere, or '#' while there is no file; `file_size` is in bytes,
 * `file_type` a MIME type.
 */
export type Resource = Database['public']['Tables']['resources']['Row'] & {
  /** The guide whose file this is. A kept list of an older form has none. */
  guides?: GuideEntity | null;
};

type GuideEntity = Omit<
  Database['public']['Tables']['guides']['Row'],
  'created_at' | 'updated_at' | 'version' | 'review_due'
>;

/** The columns of GuideEntity: what a card shows. The list is sent uncompressed. */
const ofGuide =
  'slug, title, title_so, description, description_so, category, category_so, picture, position, is_featured, reviewed_by, reviewed_on, reviewed_role';

const keptKey = 'daawo.resources';

/** The active resources, newest first. */
export async function loadResources(): Promise<Resource[]> {
  const client = await inTime(tables(), readTimeout, 'The client for tables');
  const { data, error } = await client
    .from('resources')
    .select(`*, guides(${ofGuide})`)
    .eq('is_active', true)
    .order('created_at', { ascending: false })
    .abortSignal(AbortSignal.timeout(readTimeout));
  if (error) throw error;
  try {
    localStorage.setItem(keptKey, JSON.stringify(data));
  } catch {
    // storage is full or forbidden: no list offline
  }
  return data;
}

/** Returns the list of the last visit, for reading offline. */
export function keptResources(): Resource[] | undefined {
  try {
    const kept = localStorage.getItem(keptKey);
    return kept ? JSON.parse(kept) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns a client for tables. Without a session that is the PostgREST client alone (5 kB instead of 42 kB), which
 * supabase-js contains too. With a session it is the whole client, which sends the access token.
 */
async function tables(): Promise<Pick<PostgrestClient<Database>, 'from'>> {
  if (hasSession()) return (await supabase()) as unknown as PostgrestClient<Database>;
  const [rest, { url, publishableKey }] = await Promise.all([
    import('@supabase/postgrest-js'),
    findBackend(),
  ]);
  return new rest.PostgrestClient<Database>(`${url}/rest/v1`, { headers: { apikey: publishableKey } });
}
