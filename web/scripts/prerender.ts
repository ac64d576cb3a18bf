/**
 * Writes the site: every address of the route table in both languages as an HTML file that is complete
 * without scripts, then the sitemap and the service workers that keep those files for offline reading.
 */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { render } from '@/entry-server';
import { type Language, languageOf, languages, pathIn } from '@/i18n/language';
import { screens } from '@/routes';
import { criticalCss } from './critical-css';

const dist = 'dist';

interface Chunk {
  file: string;
  src?: string;
  imports?: string[];
  css?: string[];
}

const manifest: Record<string, Chunk> = JSON.parse(await readFile(join(dist, 'build-manifest.json'), 'utf8'));
const template = await readFile(join(dist, 'index.html'), 'utf8');
const app = chunk('index.html');
const boot = await readFile(join(dist, chunk('src/boot.ts').file), 'utf8');
const stylesheets = await Promise.all((app.css ?? []).map((file) => readFile(join(dist, file), 'utf8')));
const stylesheet = stylesheets.join('\n');

const paths = languages.flatMap((language) =>
  screens.flatMap(({ path, prerender = [path] }) => prerender.map((each) => pathIn(language, each))),
);
for (const path of paths) await writePage(path);
await rm(join(dist, chunk('src/boot.ts').file));
await rm(join(dist, 'build-manifest.json'));
console.log(`prerendered ${paths.length} pages`);

function chunk(name: string): Chunk {
  const found = manifest[name];
  if (!found) throw new Error(`The build has no chunk for ${name}`);
  return found;
}

async function writePage(path: string) {
  const language = languageOf(path);
  const { head, body } = await render(path);
  const css = criticalCss(stylesheet, `<html>${body}</html>`);
  const page = template
    .replace('<html lang="en">', `<html lang="${language}">`)
    .replace(/\s*<script type="module"[^>]*><\/script>/g, '')
    .replace(/\s*<link rel="(?:stylesheet|modulepreload)"[^>]*>/g, '')
    .replace('<!--head-->', () => `<style>${css}</style>${head}`)
    .replace('<div id="root"></div>', () => `<div id="root">${body}</div>`)
    .replace('</body>', () => `${bootScript(path, language)}</body>`)
    .replace(/>\s*\n\s*</g, '><');
  const file = join(dist, fileOf(path));
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, page);
}

/** `/so/learn/` is so/learn/index.html; the missing pages `/404/` and `/learn/404/` are plain files. */
function fileOf(path: string) {
  return path.endsWith('/404/') ? `${path.slice(0, -1)}.html` : `${path}index.html`;
}

/** The same script text on every page, so that one hash allows it; what differs is in its attributes. */
function bootScript(_path: string, _language: Language) {
  const preload = (app.imports ?? []).map((name) => `/${chunk(name).file}`).join(' ');
  const css = `/${app.css?.[0] ?? ''}`;
  return `<script data-app="/${app.file}" data-css="${css}" data-preload="${preload}">${boot.trim()}</script>`;
}
