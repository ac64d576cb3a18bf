import { build, type Rolldown } from 'vite';
import { expect, test } from 'vitest';
import { loadParts } from './load-parts';

const modules: Record<string, string> = {
  'entry.js':
    'import { shared } from "shared.js"; console.log(shared); import("part.js"); import("other.js")',
  'part.js':
    'import { shared } from "shared.js"; import { deep } from "deep.js"; export const a = shared + deep',
  'other.js': 'import { deep } from "deep.js"; export const b = deep',
  'shared.js': 'export const shared = Math.random()',
  'deep.js': 'export const deep = Math.random()',
};

test('names the files that a part needs beside those of its importer', async () => {
  const files = {
    name: 'files',
    resolveId: (id: string) => (id in modules ? id : undefined),
    load: (id: string) => modules[id],
  };
  const fileNames = {
    entryFileNames: 'assets/[name].js',
    chunkFileNames: 'assets/[name].js',
    codeSplitting: {
      groups: [
        { name: 'shared', test: /shared/ },
        { name: 'deep', test: /deep/ },
      ],
    },
  };
  const built = (await build({
    configFile: false,
    logLevel: 'silent',
    plugins: [files, loadParts()],
    build: { write: false, modulePreload: false, rolldownOptions: { input: 'entry.js', output: fileNames } },
  })) as Rolldown.RolldownOutput;
  const code = built.output.find(({ fileName }) => fileName === 'assets/entry.js');
  const calls = (code?.type === 'chunk' ? code.code : '').match(/\b(?:loadPart|import)\([^)]*\)/g);
  expect(calls?.sort()).toEqual([
    'loadPart(`/assets/other.js`,`/assets/deep.js`)',
    'loadPart(`/assets/part.js`,`/assets/deep.js`)',
  ]);
});
