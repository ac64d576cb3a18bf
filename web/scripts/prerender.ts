/**
 * Writes the site: an HTML file for every path of the route table in both languages, complete without JavaScript, then
 * the sitemap and the service workers that cache these files.
 */
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { render } from '@/entry-server';
import { text as english } from '@/i18n/en/layout';
import { type Language, languageOf, languages, pathIn } from '@/i18n/language';
import { text as somali } from '@/i18n/so/layout';
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
/** Parts that are shown after the whole stylesheet is loaded (fullStyles), or are in the page's HTML already. */
const late = /(expiry-calendar|place-select|report-receipt|page-hero|ui\/(select|popover|sonner))\.tsx$/;
/**
 * The screens whose code is kept for offline use, and their parts that are loaded late. The code that sends is not among
 * them: it is useless offline, and the browser posts the form without it.
 */
const keptScreens = ['report', 'resources'] as const;
const keptParts = ['src/components/ui/sonner.tsx', 'src/screens/report/place-select.tsx'];
const manifest: Record<string, Chunk> = JSON.parse(await read('build-manifest.json'));
const template = await read('index.html');
const entry = 'src/entry-client.tsx';
const app = chunk(entry);
const stylesheet = app.css?.[0] ?? '';
const boot = {
  content: await bundle('src/boot/content-page.ts'),
  guide: await bundle('src/boot/guide-page.ts'),
  live: await bundle('src/boot/live-page.ts'),
  missing: await bundle('src/boot/not-found-page.ts'),
  sent: await bundle('src/boot/sent-page.ts'),
};
const css = await read(stylesheet);
/** What a page says when its end has not arrived (boot/document-arrival.ts). */
const incomplete = { en: english.incomplete, so: somali.incomplete };

const pages = languages.flatMap((language) =>
  screens.flatMap((screen) =>
    (screen.prerender ?? [screen.path]).map((path) => ({ language, screen, path: pathIn(language, path) })),
  ),
);
for (const page of pages) await writePage(page);

const indexed = pages.filter(({ path }) => !/\/(404|offline|thank-you)\/$/.test(path));
await write('sitemap.xml', sitemap(indexed.map(({ path }) => path)));
await write('csp.json', JSON.stringify(await policyAdditions()));
const worker = 'service-worker.js';
await write(worker, await bundle('src/offline/service-worker.ts'));
for (const language of languages) {
  const paths = indexed.map(({ path }) => path).filter((path) => languageOf(path) === language);
  const homes = languages.flatMap((each) => [pathIn(each, '/'), pathIn(each, '/offline/')]);
  await writeServiceWorker(dist, worker, language, {
    pages: [...new Set([...paths, ...homes])],
    files: filesToKeep(language),
  });
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
  const { head: tags, body: rendered } = await render(path);
  const head = tags.replaceAll('/>', '>').replaceAll('hrefLang', 'hreflang');
  const body = withoutOptionalEndTags(withoutIconNames(rendered));
  // A page that is hydrated shows more than its HTML: results, errors, messages.
  const live = body.includes('data-live');
  const sources = live ? await sourcesOf(screen) : '';
  const page = template
    .replace('<html lang="en">', `<html lang="${language}">`)
    .replace(/<script type="module"[^>]*><\/script>|<link rel="(?:stylesheet|modulepreload)"[^>]*>/g, '')
    .replace('href="/manifest', language === 'so' ? 'href="/so/manifest' : 'href="/manifest')
    .replace(/>\s+</g, '><')
    .replace(/ \/>/g, '>')
    .replace('<!--head-->', () => {
      const script = bootScript(language, screen, bootOf(body));
      return `${script}<style>${criticalCss(css, body, sources)}</style>${head}`;
    })
    .replace('<div id="root"></div>', () => `<div id="root">${body}</div>`);
  await write(fileOf(path), page);
}

/**
 * Removes the classes that lucide gives each icon, because no style uses them, its namespace, which HTML implies, and
 * the end tags of shapes: 120 bytes per page. Hydration does not change attributes.
 */
function withoutIconNames(html: string) {
  if (!html.includes('lucide'))
    throw new Error('lucide names its icons in another way (scripts/prerender.ts)');
  return html
    .replaceAll(' xmlns="http://www.w3.org/2000/svg"', '')
    .replace(/ class="(?:lucide[a-z0-9-]* ?)+("?)/g, (_, end) => (end ? '' : ' class="'))
    .replace(/><\/(?:path|rect|circle|ellipse|line)>/g, '/>');
}

/**
 * Removes end tags that HTML declares optional (its section 13.1.2.4), to save bytes only: a parser makes the same tree, so
 * hydration finds what React rendered. They are those of items and options before the next one or the end of the list, and
 * of paragraphs before an element that ends them. The lists of names are shorter than those of HTML: they are the elements
 * that our pages have there.
 */
function withoutOptionalEndTags(html: string) {
  return html
    .replace(/<\/li>(?=<li|<\/ul>|<\/ol>)/g, '')
    .replace(/<\/dt>(?=<dd)|<\/dd>(?=<dt|<\/d)/g, '')
    .replace(/<\/option>(?=<option|<optgroup|<\/optgroup|<\/select)|<\/optgroup>(?=<optgroup|<\/select)/g, '')
    .replace(
      /<\/p>(?=<(?:p|ul|ol|dl|div|section|h[1-6]|form)[ >]|<\/(?:div|li|section|article|aside)>)/g,
      '',
    );
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

/** Returns which of the inline scripts a page needs. */
function bootOf(body: string): keyof typeof boot {
  if (body.includes('data-live')) return 'live';
  if (body.includes('data-missing')) return 'missing';
  if (body.includes('data-read-aloud')) return 'guide';
  return body.includes('id="sent"') ? 'sent' : 'content';
}

/** Returns the inline script with the attributes of the page. */
function bootScript(language: Language, screen: Screen, kind: keyof typeof boot) {
  const needs = filesOf(language, screen);
  const attributes = {
    app: `/${app.file}`,
    css: `/${stylesheet}`,
    incomplete: incomplete[language],
    // No reader waits for the application on the other pages, and the names would be 2 % of a page.
    ...(kind === 'live' && { needs: names(needs) }),
    ...(screen.text[0] === 'resources' && { wants: names(listParts()) }),
  };
  const data = Object.entries(attributes).map(([name, value]) => `data-${name}="${value}"`);
  return `<script ${data.join(' ')}>${boot[kind]}</script>`;
}

/** Returns the files that a screen needs to become live. */
function filesOf(language: Language, { text }: Pick<Screen, 'text'>) {
  const [folder] = text;
  const modules = [
    `src/screens/${folder}/${folder}-screen.tsx`,
    ...['layout', 'unexpected-error', ...text].map((part) => `src/i18n/${language}/${part}.ts`),
  ];
  return new Set([entry, ...modules].flatMap(withImports));
}

/** Returns what the list needs to be loaded when its screen is live (backend/resources.ts). */
function listParts() {
  const client = Object.keys(manifest).find((name) => name.includes('/@supabase/postgrest-js/'));
  if (!client) throw new Error('The build has no file for @supabase/postgrest-js');
  return [...withImports(client), 'site.json'];
}

/** Returns the files of the form and of the list that are kept for offline use. */
function filesToKeep(language: Language): string[] {
  const files = new Set([stylesheet, 'flags/so.svg']);
  for (const name of keptScreens) for (const file of filesOf(language, { text: [name] })) files.add(file);
  for (const name of keptParts) for (const file of withImports(name)) files.add(file);
  return [...files];
}

function names(files: Iterable<string>) {
  return [...files].map((file) => `/${file}`).join(' ');
}

function withImports(name: string): string[] {
  const { file, imports = [] } = chunk(name);
  return [file, ...imports.flatMap(withImports)];
}
