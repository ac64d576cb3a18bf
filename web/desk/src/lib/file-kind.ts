/** Bytes that are read from the start of a file, and from its end for the list of a ZIP file. */
const head = 16;
const tail = 65_536;

const office = 'application/vnd.openxmlformats-officedocument.';

/**
 * Returns the type of a file by its content, or '' for one that it does not know. The name and the
 * type that a browser gives can say anything. Old Office files all begin alike: their name decides.
 */
export async function fileKind(file: File): Promise<string> {
  const start = await text(file.slice(0, head));
  if (start.startsWith('%PDF-')) return 'application/pdf';
  if (start.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (start.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (/^GIF8[79]a/.test(start)) return 'image/gif';
  if (start.startsWith('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1')) {
    return /\.ppt$/i.test(file.name) ? 'application/vnd.ms-powerpoint' : 'application/msword';
  }
  if (!start.startsWith('PK\x03\x04')) return '';
  const names = await text(file.slice(-tail));
  if (names.includes('word/document.xml')) return `${office}wordprocessingml.document`;
  return names.includes('ppt/presentation.xml') ? `${office}presentationml.presentation` : '';
}

/** Returns the bytes of a part as characters of Latin-1. */
const text = async (part: Blob) => new TextDecoder('latin1').decode(await part.arrayBuffer());
