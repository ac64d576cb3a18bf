import { expect, test } from 'vitest';
import { criticalCss } from './critical-css';

const sheet = `
@layer theme { :root { --spacing: .25rem; --unused: 1px } }
@layer base { h1 { color: red } table { color: blue } a:hover { color: var(--ink) } }
@layer utilities {
  .p-4 { padding: calc(var(--spacing) * 4) }
  .hidden { display: none }
  .md\\:flex { display: flex }
  @media (width >= 48rem) { .md\\:flex { display: flex } }
  .group:is([open]) .group-open\\:bg { background: red }
  .spin { animation: spin 1s }
}
:root { --ink: #000; --other: #111 }
@keyframes spin { to { rotate: 1turn } }
@keyframes never { to { rotate: 1turn } }
`;
const small = (css: string) => css.replace(/\s+/g, ' ');

test('keeps only the rules that the page uses', () => {
  const css = small(criticalCss(sheet, '<h1 class="p-4 md:flex"><a href="/">x</a></h1>'));
  expect(css).toContain('h1 { color: red }');
  expect(css).toContain('a:hover');
  expect(css).toContain('@media (width >= 48rem)');
  for (const gone of ['table', '.hidden', 'group-open', '--other', 'spin', '--unused'])
    expect(css).not.toContain(gone);
  expect(css).toContain('--ink: #000');
});

test('replaces custom properties of the theme with their values', () => {
  const css = small(criticalCss(sheet, '<p class="p-4">x</p>'));
  expect(css).toContain('padding: 1rem');
  expect(css).not.toContain('--spacing');
});

test('keeps the rules that the code of the page may use', () => {
  const css = small(criticalCss(sheet, '<p>x</p>', "return <table className={cn('spin', 'hidden')} />"));
  for (const kept of ['table', '.spin', '@keyframes spin', '.hidden']) expect(css).toContain(kept);
  expect(css).not.toContain('never');
});
