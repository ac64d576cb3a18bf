import { build } from 'vite';
import { expect, test } from 'vitest';
import { type Patch, patches, slimLibraries } from './slim-libraries';

function buildWith(list: readonly Patch[], replacedModules?: readonly string[]) {
  const entry = {
    name: 'entry',
    resolveId: (id: string) => (id === 'entry.js' ? id : undefined),
    load: (id: string) => (id === 'entry.js' ? 'console.log("old")' : undefined),
  };
  return build({
    configFile: false,
    logLevel: 'silent',
    plugins: [entry, slimLibraries(list, replacedModules)],
    build: { write: false, rolldownOptions: { input: 'entry.js' } },
  });
}

const patch = { name: 'old', file: /entry\.js$/, change: (code: string) => code.replace('old', 'new') };

test('applies a patch', async () => {
  expect(JSON.stringify(await buildWith([patch]))).toContain('new');
});

test.each([
  ['does not change its file', { ...patch, change: (code: string) => code.replace('other', 'new') }],
  ['does not find its file', { ...patch, file: /other\.js$/ }],
])('fails if a patch %s', async (_, broken) => {
  await expect(buildWith([patch, { ...broken, name: 'broken' }])).rejects.toThrow('"broken"');
});

test('fails if a replaced module is not used', async () => {
  await expect(buildWith([patch], ['/gone.js'])).rejects.toThrow('no import of /gone.js');
});

test.each(patches)('no patch changes other code: $name', ({ change }) => {
  expect(change('export const answer = 42;\n')).toBe('export const answer = 42;\n');
});
