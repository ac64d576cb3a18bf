import type { Database } from '@/backend/database.types';
import { check, rpc, supabase } from './client';
import { bucketName } from './resource-file';

export type Resource = Database['public']['Tables']['resources']['Row'];

/** The values of a resource that an editor gives. */
export type Values = Omit<Resource, 'id' | 'download_count' | 'created_at' | 'updated_at'>;

/** Returns all resources in the order that visitors see. */
export async function listResources(): Promise<Resource[]> {
  const { data, error } = await (await supabase())
    .from('resources')
    .select('*')
    .order('created_at', { ascending: false })
    .order('id', { ascending: false });
  check(error);
  return (data ?? []) as Resource[];
}

export async function saveResource(id: string | null, values: Partial<Values>): Promise<string> {
  const table = (await supabase()).from('resources');
  const { data, error } = id
    ? await table.update(values).eq('id', id).select('id').single()
    : await table.insert(values).select('id').single();
  check(error);
  return (data as { id: string }).id;
}

/** Deletes a resource, then its file if it is one of the bucket. */
export async function deleteResource(resource: Resource) {
  const client = await supabase();
  check((await client.from('resources').delete().eq('id', resource.id)).error);
  const name = bucketName(resource.file_url);
  if (name) await client.storage.from('resources').remove([name]);
}

export const moveResource = (id: string, up: boolean) => rpc<void>('move_resource', { resource: id, up });
