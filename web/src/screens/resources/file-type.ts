const office = 'application/vnd.openxmlformats-officedocument';

const labels: Record<string, string> = {
  'application/pdf': 'PDF',
  'image/jpeg': 'JPEG',
  'image/png': 'PNG',
  'image/gif': 'GIF',
  'application/msword': 'DOC',
  [`${office}.wordprocessingml.document`]: 'DOCX',
  'application/vnd.ms-powerpoint': 'PPT',
  [`${office}.presentationml.presentation`]: 'PPTX',
};

/** The badge of a MIME type; an unknown one shows its second half. */
export function fileTypeLabel(mime: string): string {
  return labels[mime] ?? (mime.split('/').at(-1) ?? mime).toUpperCase();
}
