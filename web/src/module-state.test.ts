import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

/**
 * A variable, or a collection that may change. The formatter puts statements of the module at the start of the line.
 */
const state = /^(?:export )?(?:(?:let|var) |const (?!\w+: Readonly).*= new (?:Weak)?(?:Map|Set)\b).*/gm;

const modules = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.tsx?$/.test(file) && !/\.test\.tsx?$/.test(file))
  .map((file) => ({ file, code: readFileSync(join('src', file), 'utf8') }));

test('finds mutable state of a module', () => {
  const code =
    'export let a = 1;\nconst b = new Set();\nconst c = 1;\nconst d: ReadonlySet<string> = new Set();\n  let e;';
  expect(code.match(state)).toEqual(['export let a = 1;', 'const b = new Set();']);
});

test('no module has mutable state', () => {
  expect(modules.length).toBeGreaterThan(100);
  expect(
    modules.flatMap(({ file, code }) => (code.match(state) ?? []).map((line) => `${file}: ${line}`)),
  ).toEqual([]);
});
