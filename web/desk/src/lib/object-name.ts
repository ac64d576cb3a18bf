/**
 * Returns a name for the bucket: the file's own in plain letters, and a part that no other file
 * has.
 */
export function objectName(file: string) {
  const dot = file.lastIndexOf('.');
  const [stem, end] = dot > 0 ? [file.slice(0, dot), file.slice(dot)] : [file, ''];
  const plain = stem
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 60);
  const random = crypto.randomUUID().slice(0, 8);
  return `${plain || 'file'}-${random}${end.toLowerCase().replace(/[^.a-z0-9]/g, '')}`;
}
