/*
 * fetch cannot say how much of a body has left, and on a slow line a photo takes half a minute. While somebody
 * watches, requests that carry a file go through XMLHttpRequest; all others stay with fetch.
 */
/** After so many milliseconds in which nothing moves, the line is taken for dead. */
const patience = 60_000;

let watcher: ((share: number) => void) | undefined;

/** Runs the work; `onProgress` hears the sent share, 0 to 1, of every file that it uploads. */
export async function watchUpload<T>(
  onProgress: (share: number) => void,
  work: () => Promise<T>,
): Promise<T> {
  watcher = onProgress;
  try {
    return await work();
  } finally {
    watcher = undefined;
  }
}

export const fetchWithProgress: typeof fetch = (input, init) => {
  const body = init?.body;
  if (!watcher || !(body instanceof FormData || body instanceof Blob)) return fetch(input, init);
  return send(String(input), { ...init, body }, watcher);
};

function send(
  url: string,
  init: RequestInit & { body: FormData | Blob },
  onProgress: (share: number) => void,
) {
  return new Promise<Response>((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open(init.method ?? 'GET', url);
    for (const [name, value] of new Headers(init.headers)) request.setRequestHeader(name, value);
    let timer: ReturnType<typeof setTimeout>;
    const wait = () => {
      clearTimeout(timer);
      timer = setTimeout(() => request.abort(), patience);
    };
    request.upload.onprogress = ({ loaded, total, lengthComputable }) => {
      wait();
      if (lengthComputable) onProgress(loaded / total);
    };
    request.onload = () => {
      const headers = new Headers({ 'content-type': request.getResponseHeader('content-type') ?? '' });
      resolve(new Response(request.responseText, { status: request.status, headers }));
    };
    request.onerror = () => reject(new TypeError('The upload was interrupted'));
    request.onabort = () => reject(new TypeError('The upload stood still'));
    request.onloadend = () => clearTimeout(timer);
    wait();
    request.send(init.body);
  });
}
