/**
 * Writes the site: an HTML file for every path of the route table in both languages, complete without JavaScript, then
 * the sitemap and the service workers that cache these files.
 */
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { render } from '@/entry-server';
import { type Language, languageOf, languages, pathIn } from '@/i18n/language';
import { type Screen, screens } from '@/routes';
import { bundle } from './bundle';
import { criticalCss } from './critical-css';
import { policyAdditions } from './policy';
import { writeServiceWorker } from './service-worker';
import { sitemap } from './sitemap';

interface Chunk {
  file: string;
  imports?: string[];
  dynamicImports?: string[];
  css?: string[];
}

const dist = 'dist';
/** Parts that are shown after the whole stylesheet is loaded (fullStyles). */
const late = /(expiry-calendar|place-select|ui\/select|ui\/popover)\.tsx$/;
/** Parts of the form and of the list that are loaded late and cached for offline use. */
const keptParts: Record<string, readonly string[]> = {
  report: ['components/ui/sonner.tsx', 'screens/report/place-select.tsx', 'screens/report/submit-report.ts'],
  resources: ['components/ui/sonner.tsx'],
};
const manifest: Record<string, Chunk> = JSON.parse(await read('build-manifest.json'));
const template = await read('index.html');
const app = chunk('index.html');
const stylesheet = app.css?.[0] ?? '';
const boot = await bundle('src/boot.ts');
const css = await read(stylesheet);

const pages = languages.flatMap((language) =>
  screens.flatMap((screen) =>
    (screen.prerender ?? [screen.path]).map((path) => ({ language, screen, path: pathIn(language, path) })),
  ),
);
for (const page of pages) await writePage(page);

const indexed = pages.filter(({ path }) => !/\/(404|thank-you)\/$/.test(path));
await write('sitemap.xml', sitemap(indexed.map(({ path }) => path)));
await write('csp.json', JSON.stringify(await policyAdditions()));
const worker = 'service-worker.js';
await write(worker, await bundle('src/offline/service-worker.ts'));
for (const language of languages) {
  const paths = indexed.map(({ path }) => path).filter((path) => languageOf(path) === language);
  await writeServiceWorker(dist, worker, language, paths);
}
for (const file of ['build-manifest.json', worker]) await rm(join(dist, file));
console.log(`prerendered ${pages.length} pages`);

function read(file: string) {
  return readFile(join(dist, file), 'utf8');
}

async function write(file: string, text: string) {
  await mkdir(dirname(join(dist, file)), { recursive: true });
  await writeFile(join(dist, file), text);
}

function chunk(name: string): Chunk {
  const found = manifest[name];
  if (!found) throw new Error(`The build has no chunk for ${name}`);
  return found;
}

async function writePage({ language, screen, path }: { language: Language; screen: Screen; path: string }) {
  const { head, body: rendered } = await render(path);
  const body = withoutIconNames(rendered);
  // A page that is hydrated shows more than its HTML: results, errors, messages.
  const sources = body.includes('data-live') ? await sourcesOf(screen) : '';
  const page = template
    .replace('<html lang="en">', `<html lang="${language}">`)
    .replace(/<script type="module"[^>]*><\/script>|<link rel="(?:stylesheet|modulepreload)"[^>]*>/g, '')
    .replace('href="/manifest', language === 'so' ? 'href="/so/manifest' : 'href="/manifest')
    .replace(/>\s+</g, '><')
    .replace('<!--head-->', () => `<style>${criticalCss(css, body, sources)}</style>${head}`)
    .replace('<div id="root"></div>', () => `<div id="root">${body}</div>`)
    .replace('</body>', () => `${bootScript(language, screen, body)}</body>`);
  await write(fileOf(path), page);
}

/**
 * Removes the classes that lucide gives each icon, because no style uses them, and the end tags of shapes: 90 bytes per
 * page. Hydration does not change attributes.
 */
function withoutIconNames(html: string) {
  if (!html.includes('lucide'))
    throw new Error('lucide names its icons in another way (scripts/prerender.ts)');
  return html
    .replace(/ class="(?:lucide[a-z0-9-]* ?)+("?)/g, (_, end) => (end ? '' : ' class="'))
    .replace(/><\/(?:path|rect|circle|ellipse|line)>/g, '/>');
}

async function sourcesOf({ text: [folder] }: Screen) {
  const folders = [`src/screens/${folder}`, 'src/components', 'src/components/ui'];
  if (folder === 'resources') folders.push('src/illustrations'); // the list, which is not in the HTML, has pictures
  const names = await Promise.all(
    folders.map(async (each) => (await readdir(each)).map((name) => `${each}/${name}`)),
  );
  const files = names.flat().filter((name) => name.endsWith('.tsx') && !late.test(name));
  return (await Promise.all(files.map((file) => readFile(file, 'utf8')))).join('\n');
}

/** Returns the file of a path: so/learn/index.html for `/so/learn/`, 404.html for `/404/`. */
function fileOf(path: string) {
  return path.endsWith('/404/') ? `${path.slice(0, -1)}.html` : `${path}index.html`;
}

/** Returns the inline script. Its text is the same on every page, so that one hash allows it; its attributes differ. */
function bootScript(language: Language, screen: Screen, body: string) {
  const [folder] = screen.text;
  const modules = [
    `src/screens/${folder}/${folder}-screen.tsx`,
    ...['layout', 'unexpected-error', ...screen.text].map((part) => `src/i18n/${language}/${part}.ts`),
  ];
  const preload = new Set(['index.html', ...modules].flatMap(withImports));
  preload.delete(app.file);
  const attributes = {
    app: `/${app.file}`,
    css: `/${stylesheet}`,
    // On a page without controls that need the application no reader waits for it. The names would be 2 % of the page.
    ...(body.includes('data-live') && { preload: names(preload) }),
  };
  const kept = new Set([app.file, ...preload]);
  const late = new Set<string>();
  for (const part of keptParts[folder ?? ''] ?? []) addWithLaterImports(`src/${part}`, kept, late);
  if (late.size > 0) Object.assign(attributes, { late: names(late) });
  const data = Object.entries(attributes).map(([name, value]) => `data-${name}="${value}"`);
  return `<script ${data.join(' ')}>${boot}</script>`;
}

function names(files: Iterable<string>) {
  return [...files].map((file) => `/${file}`).join(' ');
}

/** Adds the file of a part and its static and dynamic imports, except files that the page has already. */
function addWithLaterImports(name: string, kept: ReadonlySet<string>, into: Set<string>) {
  const { file, imports = [], dynamicImports = [] } = chunk(name);
  if (kept.has(file) || into.has(file)) return;
  into.add(file);
  for (const next of [...imports, ...dynamicImports]) addWithLaterImports(next, kept, into);
}

function withImports(name: string): string[] {
  const { file, imports = [] } = chunk(name);
  return [file, ...imports.flatMap(withImports)];
}
