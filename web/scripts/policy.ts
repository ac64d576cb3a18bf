import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

/**
 * Returns the hashes that the Content-Security-Policy needs beside those of the pages: of the <style> element that
 * sonner inserts. Its text is a literal in sonner's code. The hash of the empty text is needed because sonner inserts
 * the element empty.
 */
export async function policyAdditions() {
  const code = await readFile(fileURLToPath(import.meta.resolve('sonner')), 'utf8');
  const written = /__insertCSS\(("(?:[^"\\]|\\.)*")\)/.exec(code)?.[1];
  if (!written) throw new Error('sonner inserts its style in another way (scripts/policy.ts)');
  return { 'style-src': [hashOf(''), hashOf(JSON.parse(written))] };
}

function hashOf(text: string) {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
