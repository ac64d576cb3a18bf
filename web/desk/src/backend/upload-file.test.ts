// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type UploadProgress, uploadFile } from './upload-file';

vi.mock('./client', () => ({
  supabase: async () => ({
    auth: { getSession: async () => ({ data: { session: { access_token: 'token' } } }) },
  }),
}));

/**
 * A server of the TUS protocol: what it has received, and the replies of its next requests with a
 * part.
 */
const server = { received: 0, requests: [] as string[], replies: [] as (number | 'lost')[] };

class Request {
  upload: { onprogress?: (event: { loaded: number }) => void } = {};
  onload = () => {};
  onerror = () => {};
  onabort = () => {};
  onloadend = () => {};
  status = 0;
  responseText = '';
  method = '';
  headers: Record<string, string> = {};
  setRequestHeader(name: string, value: string) {
    this.headers[name] = value;
  }
  open(method: string) {
    this.method = method;
  }
  abort() {
    this.onabort();
    this.onloadend();
  }
  getResponseHeader(name: string) {
    return name === 'Location' ? '/storage/v1/upload/resumable/u1' : String(server.received);
  }
  send(body?: Blob) {
    server.requests.push(this.method);
    const reply = this.method === 'PATCH' ? (server.replies.shift() ?? 204) : 200;
    if (body && reply === 204) {
      this.upload.onprogress?.({ loaded: body.size });
      server.received += body.size;
    }
    queueMicrotask(() => {
      this.status = reply === 'lost' ? 0 : reply;
      if (reply === 'lost') this.onerror();
      else this.onload();
      this.onloadend();
    });
  }
}

const part = 6 * 1024 * 1024;
let progress: UploadProgress[] = [];
let stop = new AbortController();

const upload = (name: string, size: number) =>
  uploadFile(
    new File([new Uint8Array(size)], name, { type: 'application/pdf', lastModified: 1 }),
    (state) => progress.push(state),
    stop.signal,
  );

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('XMLHttpRequest', Request);
  Object.assign(server, { received: 0, requests: [], replies: [] });
  progress = [];
  stop = new AbortController();
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test('a file is sent in parts', async () => {
  const values = await upload('Leaflet.pdf', part + 10);
  expect(server.requests).toEqual(['POST', 'HEAD', 'PATCH', 'PATCH']);
  expect(values).toMatchObject({ file_size: part + 10, file_type: 'application/pdf' });
  expect(values.file_url).toMatch(/^\/storage\/v1\/object\/public\/resources\/leaflet-[0-9a-f]{8}\.pdf$/);
  expect(progress.map(({ done }) => done)).toEqual([part / (part + 10), 1]);
});

test('after a lost connection the upload asks for the offset and continues', async () => {
  server.replies = [204, 'lost', 503];
  const done = upload('lost.pdf', part + 10);
  await vi.runAllTimersAsync();
  await done;
  expect(server.requests).toEqual(['POST', 'HEAD', 'PATCH', 'PATCH', 'HEAD', 'PATCH', 'HEAD', 'PATCH']);
  expect(progress.filter(({ waiting }) => waiting)).toHaveLength(2);
  expect(server.received).toBe(part + 10);
});

test('it waits twice as long after each failure, and not longer than the connection is away', async () => {
  server.replies = ['lost', 'lost'];
  const done = upload('wait.pdf', 10);
  await vi.advanceTimersByTimeAsync(1000); // the first pause
  expect(server.replies).toEqual([]);
  await vi.advanceTimersByTimeAsync(1999);
  expect(server.received).toBe(0);
  window.dispatchEvent(new Event('online'));
  await vi.advanceTimersByTimeAsync(0);
  await done;
  expect(server.received).toBe(10);
});

test('a refused part ends the upload, and the next attempt starts a new one', async () => {
  server.replies = [413];
  await expect(upload('refused.pdf', 10)).rejects.toThrow('upload answered 413');
  server.requests = [];
  await upload('refused.pdf', 10);
  expect(server.requests).toEqual(['POST', 'HEAD', 'PATCH']);
});

test('after twelve failures the same file continues the same upload', async () => {
  server.replies = Array.from({ length: 13 }, () => 'lost' as const);
  const failed = expect(upload('stuck.pdf', 10)).rejects.toThrow('no connection');
  await vi.runAllTimersAsync();
  await failed;
  expect(server.replies).toEqual([]);
  server.requests = [];
  await upload('stuck.pdf', 10);
  expect(server.requests).toEqual(['HEAD', 'PATCH']);
});

test('a cancelled upload is forgotten', async () => {
  server.replies = ['lost'];
  const cancelled = expect(upload('cancelled.pdf', 10)).rejects.toThrow();
  await vi.advanceTimersByTimeAsync(0);
  stop.abort();
  await cancelled;
  stop = new AbortController();
  server.requests = [];
  await upload('cancelled.pdf', 10);
  expect(server.requests).toEqual(['POST', 'HEAD', 'PATCH']);
});
