import { build, type Rolldown } from 'vite';

/** One script as classic, minified, self-contained text: what is inlined or run as a worker cannot import. */
export async function bundle(file: string): Promise<string> {
  const built = await build({
    configFile: false,
    logLevel: 'warn',
    build: { write: false, rolldownOptions: { input: file, output: { format: 'iife' } } },
  });
  const { output } = (Array.isArray(built) ? built[0] : built) as Rolldown.RolldownOutput;
  return output[0].code.trim();
}
