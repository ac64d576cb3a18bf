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

/** Bytes of a part. storage-api keeps a part in S3 only as a whole, and asks for this size. */
const part = 6 * 1024 * 1024;
/** Milliseconds without a byte after which a part is given up. */
const stall = 30_000;
/** Attempts without progress before a person must choose the file again, which continues the upload. */
const attempts = 12;

export interface UploadProgress {
  done: number; // 0 to 1
  waiting: boolean; // the line is lost, the upload continues by itself
}

class UploadError extends Error {
  constructor(
    message: string,
    readonly status: number, // 0 if no reply came
  ) {
    super(message);
    this.name = 'UploadError';
  }

  /** Whether another attempt makes sense: no reply, a busy server, or an offset that differs from ours. */
  get passing() {
    return this.status === 0 || this.status >= 500 || [408, 409, 423, 429].includes(this.status);
  }
}

/** Uploads that have not ended, by file, so that choosing the same file again continues. */
const begun = new Map<string, { name: string; path: string }>();

/**
 * Uploads a file by the TUS protocol. After a lost line it goes on where it stopped. Returns the values of the resource that
 * name the file.
 */
export async function uploadFile(file: File, progress: (state: UploadProgress) => void, signal: AbortSignal) {
  const key = `${file.name} ${file.size} ${file.lastModified}`;
  const upload = begun.get(key) ?? (await create(file, signal));
  begun.set(key, upload);
  try {
    let offset = await offsetOf(upload.path, signal);
    for (let failures = 0; offset < file.size; ) {
      const from = offset;
      try {
        offset = await sendPart(upload.path, file, from, signal, (sent) =>
          progress({ done: (from + sent) / file.size, waiting: false }),
        );
        failures = 0;
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof UploadError && error.passing) || ++failures > attempts) throw error;
        progress({ done: offset / file.size, waiting: true });
        await pause(Math.min(1000 * 2 ** (failures - 1), 30_000), signal);
        offset = await offsetOf(upload.path, signal).catch((failure) => {
          if (failure instanceof UploadError && !failure.passing) throw failure;
          return offset;
        });
        if (offset > from) failures = 0;
      }
    }
  } catch (error) {
    if (signal.aborted || (error instanceof UploadError && !error.passing)) begun.delete(key);
    throw error;
  }
  begun.delete(key);
  return {
    file_url: publicPath + encodeURIComponent(upload.name),
    file_size: file.size,
    file_type: file.type,
  };
}

async function create(file: File, signal: AbortSignal) {
  const name = objectName(file.name);
  const metadata = {
    bucketName: 'resources',
    objectName: name,
    contentType: file.type,
    cacheControl: '3600',
  };
  const reply = await send('/storage/v1/upload/resumable', 'POST', signal, {
    'Upload-Length': String(file.size),
    'Upload-Metadata': Object.entries(metadata)
      .map(([key, value]) => `${key} ${btoa(value)}`)
      .join(','),
  });
  const location = new URL(reply.getResponseHeader('Location') ?? '', window.location.href);
  return { name, path: location.pathname + location.search };
}

async function offsetOf(path: string, signal: AbortSignal) {
  return Number((await send(path, 'HEAD', signal, {})).getResponseHeader('Upload-Offset'));
}

async function sendPart(
  path: string,
  file: File,
  offset: number,
  signal: AbortSignal,
  sent: (bytes: number) => void,
) {
  const headers = { 'Upload-Offset': String(offset), 'Content-Type': 'application/offset+octet-stream' };
  const reply = await send(path, 'PATCH', signal, headers, file.slice(offset, offset + part), sent);
  return Number(reply.getResponseHeader('Upload-Offset'));
}

/** Sends a request. XMLHttpRequest, because fetch does not say how many bytes have left. */
async function send(
  path: string,
  method: string,
  signal: AbortSignal,
  headers: Record<string, string>,
  body?: Blob,
  sent?: (bytes: number) => void,
): Promise<XMLHttpRequest> {
  const { data } = await (await supabase()).auth.getSession();
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const abort = () => request.abort();
    let timer = setTimeout(abort, stall);
    const alive = () => {
      clearTimeout(timer);
      timer = setTimeout(abort, stall);
    };
    const fail = () => reject(new UploadError('no connection', 0));
    request.open(method, path);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.setRequestHeader('Tus-Resumable', '1.0.0');
    request.setRequestHeader('Authorization', `Bearer ${data.session?.access_token}`);
    request.upload.onprogress = (event) => {
      alive();
      sent?.(event.loaded);
    };
    request.onerror = fail;
    request.onabort = fail;
    request.onload = () => {
      if (request.status < 300) resolve(request);
      else
        reject(new UploadError(request.responseText || `upload answered ${request.status}`, request.status));
    };
    request.onloadend = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    };
    signal.addEventListener('abort', abort);
    request.send(body);
  });
}

/** Waits, but not longer than until the browser says that the line is back. */
function pause(milliseconds: number, signal: AbortSignal) {
  return new Promise<void>((resolve) => {
    const end = () => {
      clearTimeout(timer);
      window.removeEventListener('online', end);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    window.addEventListener('online', end);
    signal.addEventListener('abort', end);
  });
}
