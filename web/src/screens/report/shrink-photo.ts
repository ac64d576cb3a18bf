/** Formats that a canvas can write. A photo keeps its format. */
const writable = ['image/jpeg', 'image/png', 'image/webp'];
const longestSide = 1600;
const quality = 0.82;

/**
 * Returns a smaller copy without metadata such as place and time. Returns the photo itself if the browser cannot read
 * it or cannot write its format.
 */
export async function shrinkPhoto(photo: File): Promise<File> {
  if (!writable.includes(photo.type)) return photo;
  const bitmap = await createImageBitmap(photo, { imageOrientation: 'from-image' }).catch(() => undefined);
  if (!bitmap) return photo;

  const scale = Math.min(1, longestSide / Math.max(bitmap.width, bitmap.height));
  const canvas = document.createElement('canvas');
  canvas.width = Math.round(bitmap.width * scale);
  canvas.height = Math.round(bitmap.height * scale);
  canvas.getContext('2d')?.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  bitmap.close();

  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, photo.type, quality));
  // A browser that cannot write WebP returns a PNG.
  if (!blob || blob.type !== photo.type) return photo;
  return new File([blob], photo.name, { type: photo.type });
}
