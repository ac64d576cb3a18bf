const office = 'application/vnd.openxmlformats-officedocument';

const labels: Record<string, string | undefined> = {
  'application/pdf': 'PDF',
  'image/jpeg': 'JPEG',
  'image/png': 'PNG',
  'image/gif': 'GIF',
  'application/msword': 'DOC',
  [`${office}.wordprocessingml.document`]: 'DOCX',
  'application/vnd.ms-powerpoint': 'PPT',
  [`${office}.presentationml.presentation`]: 'PPTX',
};

/** Returns the label of a MIME type, or its subtype if the type is unknown. */
export function fileTypeLabel(mime: string): string {
  const label = Object.hasOwn(labels, mime) ? labels[mime] : undefined;
  return label ?? (mime.split('/').at(-1) ?? mime).toUpperCase();
}
