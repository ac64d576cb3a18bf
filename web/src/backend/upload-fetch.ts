/** Milliseconds without progress after which an upload is aborted. */
const stallTimeout = 60_000;

type OnProgress = (share: number) => void;

/**
 * Returns a fetch that can report the progress of an upload, and watchUpload, which asks for that. The browser's fetch
 * cannot report it, and a photo may take half a minute. While an upload is watched, requests that carry a file use
 * XMLHttpRequest; all others use fetch.
 */
export function uploadFetch() {
  let onProgress: OnProgress | undefined;
  let stop: AbortSignal | undefined;

  /** Runs `work` and calls `report` with the sent share, 0 to 1, of the file that it uploads. */
  async function watchUpload<T>(
    report: OnProgress,
    work: () => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    onProgress = report;
    stop = signal;
    try {
      return await work();
    } finally {
      onProgress = undefined;
    }
  }

  const fetchOrUpload: typeof fetch = (input, init) => {
    const body = init?.body;
    if (!onProgress || !(body instanceof FormData || body instanceof Blob)) return fetch(input, init);
    return upload(String(input), { ...init, body, signal: stop }, onProgress);
  };

  return { fetch: fetchOrUpload, watchUpload };
}

function upload(url: string, init: RequestInit & { body: FormData | Blob }, onProgress: OnProgress) {
  return new Promise<Response>((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open(init.method ?? 'GET', url);
    for (const [name, value] of new Headers(init.headers)) request.setRequestHeader(name, value);
    let timer: ReturnType<typeof setTimeout>;
    const restartTimer = () => {
      clearTimeout(timer);
      timer = setTimeout(() => request.abort(), stallTimeout);
    };
    request.upload.onprogress = ({ loaded, total, lengthComputable }) => {
      restartTimer();
      if (lengthComputable) onProgress(loaded / total);
    };
    request.onload = () => {
      const headers = new Headers({ 'content-type': request.getResponseHeader('content-type') ?? '' });
      resolve(new Response(request.responseText, { status: request.status, headers }));
    };
    request.onerror = () => reject(new TypeError('The upload was interrupted'));
    request.onabort = () => reject(new TypeError('The upload made no progress'));
    request.onloadend = () => clearTimeout(timer);
    init.signal?.addEventListener('abort', () => request.abort());
    restartTimer();
    request.send(init.body);
  });
}
