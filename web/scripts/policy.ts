import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

/**
 * What the Content-Security-Policy must allow beyond what stands in the pages: the one <style> element that a
 * library writes by itself. sonner gives the text as a literal, so its hash is known before any browser runs it;
 * it puts the element in empty first, and browsers check that too.
 */
export async function policyAdditions() {
  const code = await readFile(fileURLToPath(import.meta.resolve('sonner')), 'utf8');
  const written = /__insertCSS\(("(?:[^"\\]|\\.)*")\)/.exec(code)?.[1];
  if (!written) throw new Error('sonner writes its style in another way now');
  return { 'style-src': [hashOf(''), hashOf(JSON.parse(written))] };
}

function hashOf(text: string) {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
