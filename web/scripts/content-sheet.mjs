/**
 * Writes all texts beside each other for reviewers, and takes their corrections back (docs/content.md).
 *
 *   node scripts/content-sheet.mjs export [FOLDER]
 *   node scripts/content-sheet.mjs import FILE.csv
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';

const root = fileURLToPath(new URL('../..', import.meta.url));
const source = fileURLToPath(new URL('content-sheet/sheet.ts', import.meta.url));
const { module: sheet } = await runnerImport(source, { configFile: false, logLevel: 'error' });

const [verb, path] = process.argv.slice(2);
if (verb === 'export') {
  const folder = path ?? '.';
  console.log(
    `${sheet.exportSheet(root, folder)} texts are in ${folder}/content-sheet.csv and content-sheet.html`,
  );
} else if (verb === 'import' && path) {
  try {
    const count = sheet.importSheet(root, readFileSync(path, 'utf8'));
    console.log(`${count} corrections are in the sources; run: npm run format -w web && npm test -w web`);
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
} else {
  console.error('usage: content-sheet export [FOLDER] | import FILE.csv');
  process.exitCode = 2;
}
