import type { Page } from '@playwright/test';
import { fileSize } from '@/lib/file-size';
import { expect, hold, live, test } from './fixtures';
import { inBothLanguages } from './languages';
import { toastOf } from './report-form';
import { admin } from './stack';

/** Returns the active resources in the order of the page. */
async function active() {
  const { data, error } = await admin()
    .from('resources')
    .select('*')
    .eq('is_active', true)
    .order('created_at', { ascending: false });
  if (error) throw error;
  return data;
}

interface Row {
  id: string;
  title: string;
  title_so: string | null;
  category: string;
  category_so: string | null;
  file_url: string;
  download_count: number;
  is_featured: boolean;
}

/** Returns the resources of one list of the page, and the first of them whose file is wanted. */
async function oneWith(wanted: (fileUrl: string) => boolean) {
  const all = (await active()).filter(({ is_featured }) => !is_featured);
  const resource = all.find(({ file_url }) => wanted(file_url));
  return { resource, all };
}

/** A resource in a reply of the table API. */
function row(n: number, different: Record<string, unknown>) {
  return {
    id: `00000000-0000-4000-8000-00000000000${n}`,
    title: `Title ${n}`,
    title_so: null,
    description: `Description ${n}`,
    description_so: null,
    category: 'Category',
    category_so: null,
    icon_name: null,
    color_class: 'bg-teal-700',
    file_url: `/storage/v1/object/public/resources/${n}.pdf`,
    file_size: 1024,
    file_type: 'application/pdf',
    download_count: n,
    is_active: true,
    is_featured: false,
    created_at: '2026-01-01T00:00:00Z',
    ...different,
  };
}

async function downloadsOf(id: string): Promise<number> {
  return (await active()).find((each) => each.id === id).download_count;
}

for (const { language, words, to } of inBothLanguages) {
  const text = words.resources;
  const titleOf = (resource: { title: string; title_so: string | null }) =>
    (language === 'so' && resource.title_so) || resource.title;
  const about = (message: { title: string; description: string }, title: string) => ({
    ...message,
    description: message.description.replace('{title}', title),
  });
  /** The guide and the language in the name of a file. */
  const fileOf = ({ file_url }: { file_url: string }) => /([\w-]+)\.(en|so)\.pdf$/.exec(file_url) ?? [];
  /** The titles of cards: a guide has one, in the page's language. */
  const cardsOf = (resources: Row[]) =>
    [...new Set(resources.map((each) => fileOf(each)[1] ?? each.id))].map((name) => {
      const files = resources.filter((each) => (fileOf(each)[1] ?? each.id) === name);
      const shown = files.find((each) => fileOf(each)[2] === language) ?? (files[0] as Row);
      return { title: titleOf(shown), shown, files };
    });
  const languageName = { en: 'English', so: 'Soomaali' };
  const button = (page: Page, resource: Row, all: Row[]) => {
    const { title, files } = cardsOf(all).find((card) => card.files.includes(resource)) ?? {
      title: '',
      files: [],
    };
    const code = fileOf(resource)[2] as 'en' | 'so' | undefined;
    const name = files.length > 1 && code ? ` ${languageName[code]}` : '';
    return page.getByRole('button', { name: `${text.download}${name}: ${title}`, exact: true });
  };

  test.describe(`the list of resources in ${language}`, () => {
    test('shows two featured resources and all others, newest first', async ({ page }) => {
      const release = await hold(page, '**/rest/v1/resources*');
      await page.setViewportSize({ width: 412, height: 823 });
      await page.addInitScript(() => {
        const moved: number[] = [];
        Object.assign(globalThis, { moved });
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries()) moved.push((entry as unknown as { value: number }).value);
        }).observe({ type: 'layout-shift', buffered: true });
      });
      const requested = page.waitForRequest('**/rest/v1/resources*');
      await page.goto(to('/resources/'));
      await expect(page.getByText(text.loading)).toBeVisible();
      const { searchParams } = new URL((await requested).url());
      expect(Object.fromEntries(searchParams)).toEqual({
        select: expect.stringMatching(/^\*,guides\([a-z_,]+\)$/),
        is_active: 'eq.true',
        order: 'created_at.desc',
      });
      release();

      const resources = await active();
      const featured = resources.filter(({ is_featured }) => is_featured).slice(0, 2);
      const others = resources.filter(({ is_featured }) => !is_featured);
      const listUnder = (name: string) =>
        page
          .getByRole('main')
          .locator('section')
          .filter({ has: page.getByRole('heading', { level: 2, name, exact: true }) });
      // The first two, also two languages of one guide.
      await expect(listUnder(text.featured).getByRole('heading', { level: 3 })).toHaveText(
        featured.map(titleOf),
      );
      const cards = cardsOf(others);
      await expect(listUnder(text.list).getByRole('heading', { level: 3 })).toHaveText(
        cards.map(({ title }) => title),
      );
      await expect(page.getByText(text.loading)).toBeHidden();
      // Cumulative layout shift.
      const moved = await page.evaluate(() => (globalThis as unknown as { moved: number[] }).moved);
      expect(moved.reduce((sum, each) => sum + each, 0)).toBeLessThan(0.005);
      await expect(page.getByRole('main').getByRole('heading', { level: 2 })).toHaveText([
        text.featured,
        text.list,
        text.closing.title,
      ]);

      const topicOf = ({ category, category_so }: Row) => (language === 'so' && category_so) || category;
      const first = cards[0]?.shown as (typeof others)[0];
      const card = listUnder(text.list).getByRole('listitem').first();
      const description = (language === 'so' && first.description_so) || first.description;
      for (const shown of [topicOf(first), description, fileSize(first.file_size), 'PDF', text.download]) {
        await expect(card).toContainText(shown);
      }
      await expect(card.locator('svg').first()).toBeVisible();
    });

    test('is narrowed by topic, language and type', async ({ page }) => {
      const file = (name: string) => `/storage/v1/object/public/resources/${name}`;
      const rows = [
        row(1, { file_url: file('pain.so.pdf'), category: 'Medicine' }),
        row(2, { file_url: file('pain.en.pdf'), category: 'Medicine' }),
        row(3, { file_type: 'image/png' }),
        row(4, { category: 'Medicine' }),
      ];
      await page.route('**/rest/v1/resources*', (route) => route.fulfill({ json: rows }));
      await page.goto(to('/resources/'));
      const cards = page.getByRole('main').getByRole('listitem');
      await expect(cards).toHaveCount(3);
      await page.getByLabel(text.filters.topic).selectOption('Medicine');
      await expect(cards).toHaveCount(2);
      await expect(page.getByText(text.filters.shown.replace('{count}', '2'))).toBeVisible();
      await page.getByLabel(text.filters.language).selectOption(language);
      await expect(cards).toHaveCount(1);
      await expect(cards.getByRole('button')).toHaveCount(1);
      await page.getByLabel(text.filters.type).selectOption('PNG');
      await expect(cards).toHaveCount(0);
      for (const label of [text.filters.topic, text.filters.language])
        await page.getByLabel(label).selectOption('');
      await expect(cards.getByRole('heading')).toHaveText('Title 3');
    });
  });

  test.describe(`resource cards in ${language}`, () => {
    test('show type and size, and at most two featured ones', async ({ page }) => {
      const rows = [
        row(1, { is_featured: true, file_size: 512, file_type: 'image/jpeg', icon_name: 'Baby' }),
        row(2, { is_featured: true, file_size: 1536, file_type: 'application/vnd.ms-powerpoint' }),
        row(3, { is_featured: true }),
        row(4, { file_size: 3_008_000, file_type: 'application/msword', icon_name: 'constructor' }),
        row(5, {
          file_size: 2 * 1024 ** 3,
          file_type: 'image/gif',
          color_class: 'bg-unknown',
          download_count: 0,
        }),
        row(6, {
          file_size: 0,
          file_url: '#',
          title_so: 'Cinwaan',
          category_so: 'Nooc',
          description_so: 'Sharaxaad',
        }),
      ];
      await page.route('**/rest/v1/resources*', (route) => route.fulfill({ json: rows }));
      await page.goto(to('/resources/'));
      const cards = page.getByRole('main').getByRole('listitem');
      const last = language === 'so' ? 'Cinwaan' : 'Title 6';
      await expect(cards.getByRole('heading')).toHaveText(['Title 1', 'Title 2', 'Title 4', 'Title 5', last]);
      for (const [at, facts] of [
        ['JPEG', '512 B'],
        ['PPT', '1.5 KB'],
        ['DOC', '2.87 MB'],
        ['GIF', '2 GB'],
        ['PDF', '0 B'],
      ].entries()) {
        for (const fact of facts) await expect(cards.nth(at)).toContainText(`: ${fact}`);
      }
      for (const [at, count] of [1, 2, 4, 0].entries())
        await expect(cards.nth(at)).toContainText(text.downloads.replace('{count}', String(count)));
      // A text without a Somali translation is English and has lang="en".
      const lang = language === 'so' ? 'en' : null;
      expect(await cards.first().getByRole('heading').getAttribute('lang')).toBe(lang);
      expect(await cards.last().getByRole('heading').getAttribute('lang')).toBeNull();
    });
  });

  test.describe(`cards of guides in ${language}`, () => {
    test('show a guide once, with a button per language and its picture', async ({ page }) => {
      const file = (slug: string, code: string) => `/storage/v1/object/public/resources/${slug}.${code}.pdf`;
      const rows = [
        row(1, { file_url: file('pain-management', 'so'), title: 'Pain (in Somali)', title_so: 'Xanuun' }),
        row(2, { file_url: file('pain-management', 'en'), title: 'Pain', title_so: 'Xanuun (Ingiriisi)' }),
        row(3, { file_url: file('poster', 'en') }),
      ];
      await page.route('**/rest/v1/resources*', (route) => route.fulfill({ json: rows }));
      await page.goto(to('/resources/'));
      const cards = page.getByRole('main').getByRole('listitem');
      await expect(cards.getByRole('heading')).toHaveText([language === 'so' ? 'Xanuun' : 'Pain', 'Title 3']);
      const order = language === 'so' ? ['Soomaali', 'English'] : ['English', 'Soomaali'];
      await expect(cards.first().getByRole('button')).toHaveCount(2);
      for (const [at, name] of order.entries()) {
        const each = cards.first().getByRole('button').nth(at);
        await expect(each).toContainText(text.download);
        await expect(each).toContainText(name);
        await expect(each).toHaveAccessibleName(new RegExp(`^${text.download} ${name}: `));
        await expect(each).toHaveAccessibleDescription(/1 KB$/);
      }
      const sizes = order.map((name) => `${name} ${text.fileSize}: 1 KB`).join(' |');
      await expect(cards.first().locator('p').filter({ hasText: 'PDF' })).toHaveText(
        `${text.fileType}: PDF ${sizes}`,
      );
      const buttons = page.getByRole('main').getByRole('listitem').getByRole('button');
      const heights = await buttons.evaluateAll((all) =>
        all.map((each) => each.getBoundingClientRect().height),
      );
      expect(new Set(heights).size, 'all buttons have one height').toBe(1);
      const alone = cards.last().getByRole('button');
      await expect(alone).toHaveAccessibleName(`${text.download}: Title 3`);
      const picture = cards.first().locator('svg[viewBox="0 0 120 120"] *').first();
      await expect(picture).not.toHaveCSS('fill', 'rgb(0, 0, 0)'); // its classes are in the page's styles
      await expect(cards.first().locator('svg[viewBox="0 0 120 120"]')).toBeVisible();
      await expect(cards.last().locator('svg[viewBox="0 0 120 120"]')).toHaveCount(0);
    });
  });

  test.describe(`icons of resources in ${language}`, () => {
    test('show an icon for each name and a default icon', async ({ page }) => {
      const icons = {
        FileText: 'file-text',
        Shield: 'shield',
        Heart: 'heart',
        Baby: 'baby',
        Smartphone: 'smartphone',
        Users: 'users',
        BookOpen: 'book-open',
        Download: 'download',
        Unknown: 'file-text',
      };
      const rows = Object.keys(icons).map((icon_name, n) => row(n, { icon_name }));
      await page.route('**/rest/v1/resources*', (route) => route.fulfill({ json: rows }));
      await page.goto(to('/resources/'));
      const cards = page.getByRole('main').getByRole('listitem');
      await expect(cards).toHaveCount(rows.length);
      for (const [at, name] of Object.values(icons).entries()) {
        await expect(cards.nth(at).locator('svg').first()).toHaveClass(new RegExp(`lucide-${name}\\b`));
      }
      await expect(page.getByRole('heading', { name: text.featured })).toHaveCount(0);
    });
  });

  test.describe(`downloads in ${language}`, () => {
    test('announces an empty list', async ({ page }) => {
      const release = await hold(page, '**/rest/v1/resources*', (route) => route.fulfill({ json: [] }));
      await page.goto(to('/resources/'));
      // A screen reader announces changes of an existing status element.
      const status = await page.getByRole('main').getByRole('status').elementHandle();
      expect(await status?.textContent()).toBe(text.loading);
      release();
      await expect(page.getByText(text.empty)).toBeVisible();
      expect(await status?.textContent()).toBe(text.empty);
    });

    test('are counted and open the file', async ({ page }) => {
      await page.goto(to('/resources/'));
      const { resource, all } = await oneWith((url) => url !== '#');
      const title = titleOf(resource);
      const download = page.waitForEvent('download');
      const tracked = page.waitForRequest('**/functions/v1/track-download');
      await button(page, resource, all).click();
      expect((await tracked).postDataJSON()).toEqual({ resourceId: resource.id });
      await expect(
        toastOf(page, words.layout.notifications)(about(text.toasts.started, title)),
      ).toBeVisible();
      expect((await download).url()).toContain(resource.file_url);
      expect(await (await download).failure()).toBeNull();
      expect(await downloadsOf(resource.id)).toBeGreaterThan(resource.download_count);
    });

    test('of a missing file are counted and show a toast', async ({ page }) => {
      await page.goto(to('/resources/'));
      const { resource, all } = await oneWith((url) => url === '#');
      const title = titleOf(resource);
      await button(page, resource, all).click();
      await expect(
        toastOf(page, words.layout.notifications)(about(text.toasts.comingSoon, title)),
      ).toBeVisible();
      await expect(page).toHaveURL(new RegExp(`${to('/resources/')}$`));
      expect(await downloadsOf(resource.id)).toBeGreaterThan(resource.download_count);
    });
  });

  test.describe(`resources with a failing backend in ${language}`, () => {
    test.use({ allowConsole: /status of 500/ });

    test('opens a file whose download was not counted', async ({ page }) => {
      await page.route('**/functions/v1/track-download', (route) => route.fulfill({ status: 500, json: {} }));
      await page.goto(to('/resources/'));
      const { resource, all } = await oneWith((url) => url !== '#');
      const download = page.waitForEvent('download');
      await button(page, resource, all).click();
      await expect(toastOf(page, words.layout.notifications)(text.toasts.trackFailed)).toBeVisible();
      expect(await (await download).failure()).toBeNull();
    });

    test('shows an error for the list', async ({ page }) => {
      await page.route('**/rest/v1/resources*', (route) =>
        route.fulfill({ status: 500, json: { message: 'no' } }),
      );
      await page.goto(to('/resources/'));
      await live(page);
      await expect(toastOf(page, words.layout.notifications)(text.toasts.loadFailed)).toHaveAttribute(
        'data-type',
        'error',
      );
      await expect(page.getByText(text.loading)).toBeHidden();
    });
  });
}
