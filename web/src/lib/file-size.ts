const units = ['B', 'KB', 'MB', 'GB'] as const;

/** Returns a size such as 512 B, 1.5 KB or 2.87 MB, without trailing zeros. */
export function fileSize(bytes: number, decimals = 2): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${Number(value.toFixed(decimals))} ${units[unit]}`;
}
