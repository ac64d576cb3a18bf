import { GlobalWorkerOptions, getDocument } from 'pdfjs-dist';
import workerSrc from 'pdfjs-dist/build/pdf.worker.min.mjs?url';

GlobalWorkerOptions.workerSrc = workerSrc;

/** Draws page one of a PDF at the top of a canvas. Only an upload of a PDF loads this file and its library. */
export async function drawPage(file: Blob, canvas: HTMLCanvasElement) {
  // The policy of the page allows no WebAssembly. Fonts that the file lacks are the browser's.
  const task = getDocument({
    data: await file.arrayBuffer(),
    isEvalSupported: false,
    useWasm: false,
    useSystemFonts: true,
  });
  try {
    const page = await (await task.promise).getPage(1);
    const whole = page.getViewport({ scale: 1 });
    const scale = Math.min(canvas.width / whole.width, canvas.height / whole.height);
    const offsetX = (canvas.width - whole.width * scale) / 2;
    await page.render({ canvas, viewport: page.getViewport({ scale, offsetX }) }).promise;
  } finally {
    await task.destroy();
  }
}
