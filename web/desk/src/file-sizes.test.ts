import { expect, test } from 'vitest';

const files = import.meta.glob<string>('./**/*.{ts,tsx,css}', {
  query: '?raw',
  import: 'default',
  eager: true,
});

test('no file of the desk has more than 200 lines', () => {
  const lengths = Object.entries(files).map(([name, text]) => ({ name, lines: text.split('\n').length - 1 }));
  expect(lengths.length).toBeGreaterThan(150);
  expect(lengths.filter(({ lines }) => lines > 200)).toEqual([]);
});
