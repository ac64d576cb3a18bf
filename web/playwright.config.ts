import { defineConfig } from '@playwright/test';
import { everyCase } from './tests/e2e/sample';

/**
 * Address of a running stack: DAAWO_URL, or API_URL from `daawo status -o env`. Without it the global setup starts one.
 */
const baseURL = process.env.DAAWO_URL ?? process.env.API_URL;

const args = [
  '--no-sandbox',
  '--disable-quic',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
];

const chromium = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';

/** Specs about what the browser around the pages does: its service workers, history and tabs, and what it does with a PDF. */
const ofTheBrowser = ['no-js-list.spec.ts', 'offline.spec.ts', 'quick-exit.spec.ts', 'session.spec.ts'];

/** Tests that also pass in the headless shell: without LONG=1 their English half runs there, in half the time. */
const englishHalf = /\b(offline|quick-exit)\.spec\.ts .*(\(en\)| in en )/;

/** The oldest Chromium that the site supports (scripts/ensure-oldest-chromium.sh). */
const oldest = process.env.OLDEST_CHROMIUM_PATH;

export default defineConfig({
  testDir: 'tests/e2e',
  globalSetup: './tests/e2e/global-setup.ts',
  fullyParallel: true,
  workers: 3,
  // The second try records a trace. A test that passes then still fails, except with RETRY=1, as in continuous integration.
  retries: process.env.CI || process.env.RETRY === '1' ? 1 : 0,
  failOnFlakyTests: process.env.RETRY !== '1',
  // Much longer than any test takes: on two busy cores headless Chromium may give a page no frame for half a minute.
  timeout: 180_000,
  expect: { timeout: 40_000 },
  reporter: [['list'], ['html', { open: 'never' }]],
  use: {
    baseURL,
    // A service worker fetches every page of its language in each test, and Playwright does not intercept its requests.
    // The specs about it allow it.
    serviceWorkers: 'block',
    // Recording every test costs CPU time. Snapshots request the blob: address of a photo, which the content security
    // policy refuses, and an error in the console fails the test.
    trace: { mode: 'on-first-retry', snapshots: false, screenshots: true },
    launchOptions: {
      // The same engine without the browser around it (scripts/ensure-headless-chromium.sh) takes half the time.
      executablePath: process.env.HEADLESS_CHROMIUM_PATH ?? chromium,
      args,
    },
  },
  projects: [
    { name: 'Chromium', testIgnore: ofTheBrowser },
    ...(everyCase ? [] : [{ name: 'Chromium, English half', testMatch: ofTheBrowser, grep: englishHalf }]),
    {
      name: 'whole Chromium',
      testMatch: ofTheBrowser,
      grepInvert: everyCase ? undefined : englishHalf,
      use: { launchOptions: { executablePath: chromium, args } },
    },
    // It remembers a failed import(), unlike the present one.
    ...(oldest
      ? [
          {
            name: 'oldest Chromium',
            testMatch: 'missing-scripts.spec.ts',
            grep: /at the next touch/,
            use: { launchOptions: { executablePath: oldest, args: [...args, '--disable-gpu'] } },
          },
        ]
      : []),
  ],
});
