/** Formats that a canvas can write: each is written back as itself. */
const rewritten = ['image/jpeg', 'image/png', 'image/webp'];
const longestSide = 1600;
const quality = 0.82;

/**
 * A smaller copy without metadata: drawing a picture anew leaves out where and when it was taken. Formats
 * that the browser cannot write are sent as they are, and so is a picture that it cannot read.
 */
export async function shrinkPhoto(photo: File): Promise<File> {
  if (!rewritten.includes(photo.type)) return photo;
  const bitmap = await createImageBitmap(photo, { imageOrientation: 'from-image' }).catch(() => undefined);
  if (!bitmap) return photo;

  const scale = Math.min(1, longestSide / Math.max(bitmap.width, bitmap.height));
  const canvas = document.createElement('canvas');
  canvas.width = Math.round(bitmap.width * scale);
  canvas.height = Math.round(bitmap.height * scale);
  canvas.getContext('2d')?.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  bitmap.close();

  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, photo.type, quality));
  // A browser that cannot write WebP answers with a PNG.
  if (!blob || blob.type !== photo.type) return photo;
  return new File([blob], photo.name, { type: photo.type });
}
