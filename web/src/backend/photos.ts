import { connect } from './client';

const bucket = 'report-photos';
const attempts = 3;

/**
 * Stores a photo under the current timestamp and its original extension; returns that name. Only a report that is sent
 * with the same claim gets the photo. Our gateway accepts a taken name, because another reply would tell that it exists;
 * storage alone refuses it.
 */
export async function uploadPhoto(
  photo: File,
  claim: string,
  onProgress: (share: number) => void,
  signal?: AbortSignal,
): Promise<string> {
  const { client, watchUpload } = await connect();
  for (let attempt = 1; ; attempt++) {
    const name = photoName(photo.name, Date.now());
    const { error } = await watchUpload(
      onProgress,
      () => client.storage.from(bucket).upload(name, photo, { metadata: { claim } }),
      signal,
    );
    if (!error) return name;
    if (!isTaken(error) || attempt === attempts) throw error;
  }
}

export function photoName(original: string, now: number) {
  const extension = /\.[A-Za-z0-9]{1,5}$/.exec(original)?.[0] ?? '';
  return `${now}${extension.toLowerCase()}`;
}

/** Two clients may upload in the same millisecond. */
function isTaken(error: { statusCode?: unknown; message: string }) {
  return String(error.statusCode) === '409' || /already exists/i.test(error.message);
}
