import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from '@playwright/test';
import { documentAt } from '../documents';
import { inBothLanguages } from '../languages';
import { everyDocument } from '../pages';
import { everyCase } from '../sample';
import { type Control, controls, type Visit } from './controls';
import { type Browser, type Page, startChromium, startFirefox } from './drivers';
import { startSlowLine } from './slow-line';

/*
 * Each control of the site works as the first touch of a page that has just arrived on slow 3G, in a browser that does
 * not report its connection. With LONG=1 there is one visit for each kind of control and browser. Otherwise the two
 * Chromiums share the kinds, and Firefox has every second one. Half of the kinds are visited in English and the others in
 * Somali, the other way about in the next browser.
 */
const { HEADLESS_CHROMIUM_PATH, CHROMIUM_PATH = '/usr/bin/chromium' } = process.env;
const chromium = (!everyCase && HEADLESS_CHROMIUM_PATH) || CHROMIUM_PATH;
const browsers: readonly {
  name: string;
  path: string | undefined;
  start: (path: string) => Promise<Browser>;
}[] = [
  { name: 'Chromium', path: chromium, start: startChromium },
  { name: 'the oldest Chromium', path: process.env.OLDEST_CHROMIUM_PATH, start: startChromium },
  { name: 'Firefox', path: process.env.FIREFOX_PATH, start: startFirefox },
];

/** Reports whether the browser at `order` visits a control. */
function isVisited(index: number, order: number) {
  const bothChromiums = browsers.slice(0, 2).every(({ path }) => path !== undefined);
  return everyCase || (!bothChromiums && order < 2) || index % 2 === order % 2;
}

/** Milliseconds for each step of a visit. Late parts take seconds on the line, and the processor may be busy. */
const patience = 60_000;

async function poll(what: string, test: () => Promise<boolean> | boolean) {
  let last: unknown;
  for (const end = Date.now() + patience; Date.now() < end; await wait(50)) {
    try {
      if (await test()) return;
      last = undefined;
    } catch (error) {
      last = error; // the page may be changing
    }
  }
  throw new Error(`${what} did not come`, { cause: last });
}

/** Opens the page of a control in a new context and touches the control. */
async function visit(browser: Browser, stack: string, { path, selector, touch }: Control, spoken: number) {
  const to = inBothLanguages[spoken % inBothLanguages.length]?.to ?? String;
  const line = await startSlowLine(stack);
  const page: Page = await browser.open(line.address);
  try {
    const goto = (address: string) => page.goto(stack + to(address), { waitUntil: 'domcontentloaded' });
    const until: Visit['until'] = (what, inPage, argument) =>
      poll(what, () => page.evaluate(inPage as (given: unknown) => boolean, argument));
    await goto(path);
    const found = await page.evaluate((each) => {
      const { live } = document.documentElement.dataset;
      return { live, href: document.querySelector<HTMLAnchorElement>(each)?.href ?? '' };
    }, selector);
    expect(found.live, 'the application has not arrived').toBeUndefined();
    const live = () => until('the application', () => 'live' in document.documentElement.dataset);
    await touch({ page, line, until, soon: poll, live, goto, href: found.href }, selector);
    expect(page.errors, 'errors of scripts').toEqual([]);
  } finally {
    await page.close();
    line.close();
  }
}

browsers.forEach(({ name, path, start }, order) => {
  test(`each control works as the first touch in ${name}`, async ({ baseURL }, { annotations }) => {
    test.skip(path === undefined, `no ${name} on this machine`);
    test.setTimeout(300_000);
    const browser = await start(path ?? '');
    annotations.push({ type: 'browser', description: browser.version });
    const failures: string[] = [];
    const waiting = [...controls.entries()].filter(([index, { name }]) =>
      process.env.ONLY ? process.env.ONLY.split(',').includes(name) : isVisited(index, order),
    );
    async function visitAll() {
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        const [index, control] = next;
        const spoken = Math.floor(index / 2) + order;
        await visit(browser, new URL(baseURL ?? '').origin, control, spoken).catch((error) =>
          failures.push(`${control.name}: ${error} ${error.cause ?? ''}`),
        );
      }
    }
    try {
      await Promise.all(Array.from({ length: browser.together }, visitAll));
    } finally {
      await browser.close();
    }
    expect(failures, browser.version).toEqual([]);
  });
});

test('the list of controls has every control of every page', async ({ request }) => {
  const unknown = new Set<string>();
  const seen = new Set<string>();
  for (const { path } of everyDocument) {
    const document = await documentAt(request, path);
    const elements = document.querySelectorAll(
      'a[href], button, input:not([type=hidden]), select, textarea, summary, label, audio, video, [tabindex="0"]',
    );
    for (const element of elements) {
      if (element.closest('[hidden]')) continue; // the button to read aloud, where the browser has no voice
      if (element.closest('[aria-hidden=true], .hidden')?.matches('p')) continue; // the field that only robots fill in
      const kinds = controls.filter(({ selector }) => element.matches(selector));
      if (kinds.length !== 1) unknown.add(`${path}: ${element.outerHTML.slice(0, 120)}`);
      for (const { name } of kinds) seen.add(name);
    }
  }
  expect([...unknown]).toEqual([]);
  // The application makes these.
  const later = ['list of regions', 'download'];
  expect(controls.map(({ name }) => name).filter((name) => !seen.has(name))).toEqual(later);
});
