import { chromium } from '@playwright/test';
import { launch } from 'puppeteer-core';

/** What the visits need of a page, as Playwright and Puppeteer name it. */
export interface Page {
  goto: (address: string, options: { waitUntil: 'domcontentloaded' }) => Promise<unknown>;
  /** Scrolls the first element into view and clicks it with the mouse. */
  click: (selector: string) => Promise<void>;
  type: (text: string) => Promise<void>;
  press: (key: 'Enter' | 'Tab') => Promise<void>;
  evaluate: <Argument, Result>(run: (argument: Argument) => Result, argument: Argument) => Promise<Result>;
  url: () => string;
  /** The texts of the alerts and the errors of scripts. */
  alerts: readonly string[];
  errors: readonly string[];
  close: () => Promise<unknown>;
}

export interface Browser {
  version: string;
  /** How many pages may be open at once. They wait for their lines most of the time. */
  together: number;
  /** Opens a page without a history, on the line with that address. */
  open: (line: string) => Promise<Page>;
  close: () => Promise<void>;
}

/** A phone held upright. */
const viewport = { width: 360, height: 740 };

/** Runs before the page's script: no browser reports its connection, and sharing is recorded. */
function prepare() {
  delete (Navigator.prototype as { connection?: unknown }).connection;
  navigator.share = async (data) => {
    document.documentElement.dataset.shared = data?.url;
  };
}

/** Starts a Chromium of any version. */
export async function startChromium(executablePath: string): Promise<Browser> {
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
  return {
    version: `Chromium ${browser.version()}`,
    together: 5,
    open: async (line) => {
      const context = await browser.newContext({
        viewport,
        proxy: { server: line },
        serviceWorkers: 'block', // it would fetch all pages over the slow line
      });
      await context.addInitScript(prepare);
      const page = await context.newPage();
      const alerts: string[] = [];
      const errors: string[] = [];
      page.on('dialog', (dialog) => {
        alerts.push(dialog.message());
        void dialog.accept();
      });
      page.on('pageerror', (error) => errors.push(String(error)));
      return {
        goto: (address, options) => page.goto(address, options),
        click: (selector) => page.locator(selector).first().click({ noWaitAfter: true }),
        type: (text) => page.keyboard.type(text),
        press: (key) => page.keyboard.press(key),
        evaluate: (run, argument) => page.evaluate(run as never, argument),
        url: () => page.url(),
        alerts,
        errors,
        close: () => context.close(),
      };
    },
    close: () => browser.close(),
  };
}

/** Starts an unchanged Firefox. Playwright drives only its own build, Puppeteer any through WebDriver BiDi. */
export async function startFirefox(executablePath: string): Promise<Browser> {
  const browser = await launch({
    browser: 'firefox',
    executablePath,
    // The narrowest window of a desktop. Older versions refuse what Puppeteer does to set a viewport.
    defaultViewport: null,
    args: ['--width=450', `--height=${viewport.height}`],
    extraPrefsFirefox: {
      'network.proxy.allow_hijacking_localhost': true,
      'dom.serviceWorkers.enabled': false,
    },
  });
  return {
    version: (await browser.version()).replace('firefox/', 'Firefox '),
    together: 1, // only one window has the focus
    open: async (line) => {
      const context = await browser.createBrowserContext({ proxyServer: line });
      const page = await context.newPage();
      await page.evaluateOnNewDocument(prepare);
      const alerts: string[] = [];
      const errors: string[] = [];
      page.on('dialog', (dialog) => {
        alerts.push(dialog.message());
        void dialog.accept();
      });
      page.on('pageerror', (error) => errors.push(String(error)));
      return {
        goto: (address, options) => page.goto(address, options),
        click: (selector) => page.click(selector),
        type: (text) => page.keyboard.type(text),
        press: (key) => page.keyboard.press(key),
        evaluate: (run, argument) => page.evaluate(run as never, argument) as never,
        url: () => page.url(),
        alerts,
        errors,
        close: () => context.close(),
      };
    },
    close: () => browser.close(),
  };
}
