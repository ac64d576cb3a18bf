import { defineConfig } from '@playwright/test';

/** A running stack: DAAWO_URL, or what `daawo status -o env` prints, or else one that the set-up starts. */
const baseURL = process.env.DAAWO_URL ?? process.env.API_URL;

export default defineConfig({
  testDir: 'tests/e2e',
  globalSetup: './tests/e2e/global-setup.ts',
  fullyParallel: true,
  workers: 2,
  retries: process.env.CI ? 1 : 0, // for its trace alone: what passes the second time is a failure, too
  failOnFlakyTests: true,
  // On two busy cores a headless Chromium was once seen to starve a page of frames for half a minute, in the first click.
  timeout: 60_000,
  expect: { timeout: 10_000 }, // two cores may be busy with a photo and another test
  reporter: [['list'], ['html', { open: 'never' }]],
  use: {
    baseURL,
    // A worker fetches every page of its language, for each test anew, which is no part of what a page costs, and fetches
    // past what a test intercepts. The specs that are about it allow it.
    serviceWorkers: 'block',
    // A recording of each test is work for both cores. One with snapshots asks for a photo's blob: by its address, which
    // the content security policy refuses, and a refusal in the console fails the test.
    trace: { mode: 'on-first-retry', snapshots: false, screenshots: true },
    launchOptions: {
      executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium',
      args: [
        '--no-sandbox',
        '--disable-quic',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
        '--no-first-run',
      ],
    },
  },
});
