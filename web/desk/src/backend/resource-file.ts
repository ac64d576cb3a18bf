const publicPath = '/storage/v1/object/public/resources/';

/** Returns the address of a file of the bucket. */
export const publicAddress = (name: string) => publicPath + encodeURIComponent(name);

/** Returns the name in the bucket of a public address, or null for the address of another place. */
export function bucketName(address: string) {
  return address.startsWith(publicPath) ? decodeURIComponent(address.slice(publicPath.length)) : null;
}

/** The types that the bucket takes. */
export const fileTypes = [
  'application/pdf',
  'image/jpeg',
  'image/png',
  'image/gif',
  'application/msword',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  'application/vnd.ms-powerpoint',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation',
];

const maxFileSize = 20 * 1024 * 1024;

/** Returns what the bucket would refuse about a file, if anything. */
export function refusal({ type, size }: { type: string; size: number }) {
  if (!fileTypes.includes(type)) return 'wrongType';
  return size > maxFileSize ? 'tooLarge' : undefined;
}
