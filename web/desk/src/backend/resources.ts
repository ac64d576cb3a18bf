import { objectName } from '@desk/lib/object-name';
import type { Database } from '@/backend/database.types';
import { check, rpc, supabase } from './client';
import { bucketName, publicAddress } from './resource-file';

export type Resource = Database['public']['Tables']['resources']['Row'];

/** The values of a resource that an editor gives. */
export type Values = Omit<Resource, 'id' | 'download_count' | 'created_at' | 'updated_at' | 'version'>;

/** Returns all resources, the newest first. */
export async function listResources(): Promise<Resource[]> {
  const { data, error } = await (await supabase())
    .from('resources')
    .select('*')
    .order('created_at', { ascending: false })
    .order('id', { ascending: false });
  check(error);
  return (data ?? []) as Resource[];
}

export async function addResource(values: Values): Promise<void> {
  check((await (await supabase()).from('resources').insert(values)).error);
}

/**
 * Changes a resource if it still has the seen version. Returns false if a colleague has changed or
 * deleted it.
 */
export async function changeResource(
  { id, version }: Pick<Resource, 'id' | 'version'>,
  values: Partial<Values>,
): Promise<boolean> {
  const { data, error } = await (await supabase())
    .from('resources')
    .update(values)
    .eq('id', id)
    .eq('version', version)
    .select('id');
  check(error);
  return data?.length === 1;
}

/** Stores the small picture of a file, and returns its address. */
export async function storePreview(file: string, picture: Blob): Promise<string> {
  const end = picture.type === 'image/webp' ? 'webp' : 'png';
  const name = objectName(`${file.replace(/\.[^.]*$/, '')}.${end}`);
  const bucket = (await supabase()).storage.from('resources');
  const { error } = await bucket.upload(name, picture, { contentType: picture.type });
  if (error) throw error;
  return publicAddress(name);
}

/** Deletes a resource, then its file, its earlier files and its picture if they are in the bucket. */
export async function deleteResource(resource: Resource) {
  const client = await supabase();
  const earlier = await client.from('resource_versions').select('file_url').eq('resource_id', resource.id);
  check(earlier.error);
  check((await client.from('resources').delete().eq('id', resource.id)).error);
  const files = [resource, ...(earlier.data ?? [])].map(({ file_url }) => file_url);
  const names = [...files, resource.preview_url ?? ''].flatMap((address) => bucketName(address) ?? []);
  if (names.length > 0) await client.storage.from('resources').remove(names);
}

export const moveResource = (id: string, up: boolean) => rpc<void>('move_resource', { resource: id, up });
