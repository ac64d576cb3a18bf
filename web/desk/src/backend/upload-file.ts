import { publicAddress } from './resource-file';
import { createUpload, offsetOf, sendPart, type Upload, UploadError } from './tus';

/**
 * Attempts without progress before a person must choose the file again, which continues the upload.
 */
const attempts = 12;

export interface UploadProgress {
  done: number; // 0 to 1
  waiting: boolean; // the connection is lost, the upload continues by itself
}

/** Uploads that have not ended, by file, so that choosing the same file again continues. */
const begun = new Map<string, Upload>();

/**
 * Uploads a file. After a lost connection it continues where it stopped. Returns the resource's
 * values of the file.
 */
export async function uploadFile(file: File, progress: (state: UploadProgress) => void, signal: AbortSignal) {
  const key = `${file.name} ${file.size} ${file.lastModified}`;
  const upload = begun.get(key) ?? (await createUpload(file, signal));
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
        if (!(error instanceof UploadError && error.temporary) || ++failures > attempts) throw error;
        progress({ done: offset / file.size, waiting: true });
        await pause(Math.min(1000 * 2 ** (failures - 1), 30_000), signal);
        offset = await offsetOf(upload.path, signal).catch((failure) => {
          if (failure instanceof UploadError && !failure.temporary) throw failure;
          return offset;
        });
        if (offset > from) failures = 0;
      }
    }
  } catch (error) {
    if (signal.aborted || (error instanceof UploadError && !error.temporary)) begun.delete(key);
    throw error;
  }
  begun.delete(key);
  return {
    file_url: publicAddress(upload.name),
    file_size: file.size,
    file_type: file.type,
  };
}

/** Waits until the time is over or the browser reports that the connection is back. */
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
