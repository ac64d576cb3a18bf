import { expect, test } from 'vitest';
import { loadGuides } from './guides';

const english = await loadGuides('en');

test('each figure has at most 3 kB', async () => {
  const { GuideFigurePicture } = await import('@/illustrations/guide-figure');
  const { renderToStaticMarkup } = await import('react-dom/server');
  const names = english.flatMap(({ content }) =>
    content.flatMap((block) => (block.type === 'section' && block.figure ? [block.figure.name] : [])),
  );
  expect(new Set(names).size).toBe(6);
  for (const name of names)
    expect(renderToStaticMarkup(GuideFigurePicture({ name })).length, name).toBeLessThanOrEqual(3000);
});
