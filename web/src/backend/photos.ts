import { connect } from './client';

const bucket = 'report-photos';

/**
 * Stores a photo under the current timestamp and its original extension; returns that name. Only a report that is sent
 * with the same claim gets the photo. The backend accepts a name that is taken, because another reply would tell that
 * it exists.
 */
export async function uploadPhoto(
  photo: File,
  claim: string,
  onProgress: (share: number) => void,
): Promise<string> {
  const { client, watchUpload } = await connect();
  const name = photoName(photo.name, Date.now());
  const { error } = await watchUpload(onProgress, () =>
    client.storage.from(bucket).upload(name, photo, { metadata: { claim } }),
  );
  if (error) throw error;
  return name;
}

export function photoName(original: string, now: number) {
  const extension = /\.[A-Za-z0-9]{1,5}$/.exec(original)?.[0] ?? '';
  return `${now}${extension.toLowerCase()}`;
}
