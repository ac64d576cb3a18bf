/** The sizes of the pictures: two pixels for each of the card's (resource-card.tsx). */
const page = { width: 160, height: 226 };
const square = { width: 128, height: 128 };

/** Bytes that a card's picture may have. */
export const most = 12_000;

/**
 * Returns a picture of a file's first page, for its card: WebP, or PNG where the browser writes no WebP. Office
 * files have none. Rejects if the file cannot be read.
 */
export async function firstPage(file: File): Promise<Blob | undefined> {
  const canvas = Object.assign(document.createElement('canvas'), page);
  const paper = canvas.getContext('2d');
  if (!paper) throw new Error('no canvas');
  paper.fillStyle = '#fff';
  paper.fillRect(0, 0, page.width, page.height);
  if (file.type === 'application/pdf') await (await import('./pdf-page')).drawPage(file, canvas);
  else if (file.type.startsWith('image/')) await drawImage(file, canvas);
  else return undefined;
  return encode(canvas);
}

/** Returns the middle of a picture, as the card of a guide shows it. Rejects if the file cannot be read. */
export async function middleOf(file: File): Promise<Blob> {
  const canvas = Object.assign(document.createElement('canvas'), square);
  await drawImage(file, canvas, Math.max);
  return encode(canvas);
}

/** Draws a picture, the whole of it from the top or, with Math.max, as much of its middle as fills the canvas. */
async function drawImage(file: Blob, canvas: HTMLCanvasElement, choose = Math.min) {
  const image = await createImageBitmap(file);
  const scale = choose(canvas.width / image.width, canvas.height / image.height);
  const [wide, high] = [image.width * scale, image.height * scale];
  const paper = canvas.getContext('2d');
  if (paper) paper.imageSmoothingQuality = 'high';
  paper?.drawImage(image, (canvas.width - wide) / 2, Math.min(0, canvas.height - high) / 2, wide, high);
  image.close();
}

/** Returns the best picture that is small enough: less quality, and without WebP fewer pixels. */
async function encode(canvas: HTMLCanvasElement): Promise<Blob> {
  for (const quality of [0.8, 0.6, 0.4, 0.2]) {
    const picture = await blobOf(canvas, quality);
    if (picture.type !== 'image/webp') break;
    if (picture.size <= most) return picture;
  }
  for (let scale = 1; scale > 0.1; scale *= 0.8) {
    const picture = await blobOf(shrink(canvas, scale));
    if (picture.size <= most) return picture;
  }
  throw new Error('the picture stays too large');
}

function blobOf(canvas: HTMLCanvasElement, quality?: number) {
  return new Promise<Blob>((resolve, reject) =>
    canvas.toBlob(
      (blob) => (blob ? resolve(blob) : reject(new Error('no picture'))),
      quality ? 'image/webp' : 'image/png',
      quality,
    ),
  );
}

function shrink(canvas: HTMLCanvasElement, scale: number) {
  const small = Object.assign(document.createElement('canvas'), {
    width: Math.round(canvas.width * scale),
    height: Math.round(canvas.height * scale),
  });
  const paper = small.getContext('2d');
  if (paper) paper.imageSmoothingQuality = 'high';
  paper?.drawImage(canvas, 0, 0, small.width, small.height);
  return small;
}
