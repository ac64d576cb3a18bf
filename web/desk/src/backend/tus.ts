import { objectName } from '@desk/lib/object-name';
import { supabase } from './client';

/** Bytes of a part. storage-api keeps a part in S3 only as a whole, and asks for this size. */
const part = 6 * 1024 * 1024;
/** Milliseconds without a byte after which a part is given up. */
const stall = 30_000;

/**
 * An upload by the TUS protocol: the name of the file in the bucket, and the path of the upload.
 */
export interface Upload {
  name: string;
  path: string;
}

export class UploadError extends Error {
  constructor(
    message: string,
    readonly status: number, // 0 if no reply came
  ) {
    super(message);
    this.name = 'UploadError';
  }

  /**
   * Reports whether another attempt makes sense: no reply, a busy server, or an offset that differs
   * from ours.
   */
  get temporary() {
    return this.status === 0 || this.status >= 500 || [408, 409, 423, 429].includes(this.status);
  }
}

/** Creates an upload to the bucket of the resources. */
export async function createUpload(file: File, signal: AbortSignal): Promise<Upload> {
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

/** Returns how many bytes of an upload the server has. */
export async function offsetOf(path: string, signal: AbortSignal) {
  return Number((await send(path, 'HEAD', signal, {})).getResponseHeader('Upload-Offset'));
}

/**
 * Sends the part at an offset and returns the next offset. sent gets the bytes of the part that
 * have left.
 */
export async function sendPart(
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

/** Sends a request. XMLHttpRequest, because fetch does not report how many bytes have left. */
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
