import { check, rpc, supabase } from './client';

export const icons = [
  'FileText',
  'Shield',
  'Heart',
  'Baby',
  'Smartphone',
  'Users',
  'BookOpen',
  'Download',
] as const;
export const colours = ['teal', 'sky', 'rose', 'amber', 'violet', 'emerald', 'pink', 'slate'].map(
  (c) => `bg-${c}-700`,
);

export interface Resource {
  id: string;
  title: string;
  title_so: string | null;
  description: string;
  description_so: string | null;
  category: string;
  category_so: string | null;
  icon_name: (typeof icons)[number] | null;
  color_class: string;
  file_url: string;
  file_size: number;
  file_type: string;
  download_count: number;
  is_active: boolean;
  is_featured: boolean;
  created_at: string;
}

export type Values = Omit<Resource, 'id' | 'download_count' | 'created_at'>;

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
  const name = fileName(resource.file_url);
  if (name) await client.storage.from('resources').remove([name]);
}

export const moveResource = (id: string, up: boolean) => rpc<void>('move_resource', { resource: id, up });

const publicPath = '/storage/v1/object/public/resources/';

function fileName(url: string) {
  return url.startsWith(publicPath) ? decodeURIComponent(url.slice(publicPath.length)) : null;
}

export const fileTypes = [
  'application/pdf',
  'image/jpeg',
  'image/png',
  'image/gif',
  'application/msword',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  'application/vnd.ms-powerpoint',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation',
];
export const maxFileSize = 20 * 1024 * 1024;

/** Returns a name for the bucket: the file's own, in plain letters, and a part that no other file has. */
export function objectName(file: string) {
  const dot = file.lastIndexOf('.');
  const plain = (dot > 0 ? file.slice(0, dot) : file)
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 60);
  const random = crypto.randomUUID().slice(0, 8);
  const extension =
    dot > 0
      ? file
          .slice(dot)
          .toLowerCase()
          .replace(/[^.a-z0-9]/g, '')
      : '';
  return `${plain || 'file'}-${random}${extension}`;
}

const chunk = 6 * 1024 * 1024;

/**
 * Uploads a file by the TUS protocol, so that an upload over a bad line goes on where it stopped. progress gets values from 0
 * to 1. Returns the values of the resource that name the file.
 */
export async function uploadFile(file: File, progress: (done: number) => void, signal: AbortSignal) {
  const name = objectName(file.name);
  const client = await supabase();
  const metadata = {
    bucketName: 'resources',
    objectName: name,
    contentType: file.type,
    cacheControl: '3600',
  };
  const encoded = Object.entries(metadata)
    .map(([key, value]) => `${key} ${btoa(value)}`)
    .join(',');
  const created = await send(client, '/storage/v1/upload/resumable', 'POST', signal, {
    'Upload-Length': String(file.size),
    'Upload-Metadata': encoded,
  });
  const location = new URL(created.headers.get('Location') ?? '', window.location.href);
  const path = location.pathname + location.search;
  let offset = 0;
  for (let failures = 0; offset < file.size; ) {
    try {
      const part = file.slice(offset, offset + chunk);
      const reply = await send(client, path, 'PATCH', signal, { 'Upload-Offset': String(offset) }, part);
      offset = Number(reply.headers.get('Upload-Offset'));
      failures = 0;
    } catch (error) {
      if (signal.aborted || ++failures > 5) throw error;
      await new Promise((resolve) => setTimeout(resolve, 500 * 2 ** failures));
      const head = await send(client, path, 'HEAD', signal, {}).catch(() => null);
      offset = Number(head?.headers.get('Upload-Offset') ?? offset);
    }
    progress(offset / file.size);
  }
  return { file_url: publicPath + encodeURIComponent(name), file_size: file.size, file_type: file.type };
}

async function send(
  client: Awaited<ReturnType<typeof supabase>>,
  path: string,
  method: string,
  signal: AbortSignal,
  headers: Record<string, string>,
  body?: Blob,
) {
  const { data } = await client.auth.getSession();
  const response = await fetch(path, {
    method,
    body,
    signal: AbortSignal.any([signal, AbortSignal.timeout(120_000)]),
    headers: {
      ...headers,
      ...(body && { 'Content-Type': 'application/offset+octet-stream' }),
      'Tus-Resumable': '1.0.0',
      Authorization: `Bearer ${data.session?.access_token}`,
    },
  });
  if (!response.ok) throw new Error((await response.text()) || `upload answered ${response.status}`);
  return response;
}
