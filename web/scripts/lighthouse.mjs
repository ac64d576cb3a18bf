/*
 * Measures pages of a running stack with Lighthouse and prints the table of docs/performance.md: the median of three
 * runs on slow 4G and on poor 3G. Slow 4G is Lighthouse's mobile default, which simulates the connection from an
 * unthrottled visit. Poor 3G (400 ms, 400 kbit/s, six times slower CPU) throttles the browser itself, so that the page
 * adapts to the connection.
 *
 *   node scripts/lighthouse.mjs http://127.0.0.1:54321 [/page/ …]
 */
import { launch } from 'chrome-launcher';
import lighthouse from 'lighthouse';

const [origin = 'http://127.0.0.1:54321', ...asked] = process.argv.slice(2);
const pages = [
  '/',
  '/so/',
  '/learn/antibiotics-guide/',
  '/so/learn/antibiotics-guide/',
  '/women-health/',
  '/report/',
  '/so/report/',
  '/resources/',
  '/so/resources/',
];
const runs = 3;

/** With Lighthouse's factors between a connection and the throttling of the browser. */
const poor3G = {
  rttMs: 400,
  throughputKbps: 400,
  requestLatencyMs: 400 * 3.75,
  downloadThroughputKbps: 400 * 0.9,
  uploadThroughputKbps: 400 * 0.9,
  cpuSlowdownMultiplier: 6,
};
const lines = {
  'slow 4G': {},
  'poor 3G': { throttling: poor3G, throttlingMethod: 'devtools' },
};

const chrome = await launch({
  chromePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium',
  chromeFlags: [
    '--headless=new',
    '--no-sandbox',
    '--disable-quic',
    '--disable-background-networking',
    '--no-first-run',
  ],
});
try {
  await visit('/', { onlyCategories: ['performance'] }); // warms the browser up
  console.log('| page | line | performance | accessibility | best practices | SEO | LCP | TBT | CLS |');
  console.log('|---|---|---|---|---|---|---|---|---|');
  for (const page of asked.length > 0 ? asked : pages) {
    for (const [line, settings] of Object.entries(lines)) console.log(await row(page, line, settings));
  }
} finally {
  chrome.kill();
}

/**
 * Measures one visit. Sometimes the browser's trace lacks data for the scores; the visit is then repeated, at most
 * twice.
 */
async function visit(page, settings, again = 2) {
  const { lhr } = await lighthouse(origin + page, { port: chrome.port, logLevel: 'error', ...settings });
  if (!lhr.runtimeError && Number.isFinite(lhr.categories.performance.score)) return lhr;
  const fault = `${page}: ${lhr.runtimeError?.message ?? 'no score'}`;
  if (again === 0) throw new Error(fault);
  console.error(fault);
  return visit(page, settings, again - 1);
}

/**
 * Measures a page and returns its row. The other categories do not depend on the connection, so they are measured once.
 */
async function row(page, line, settings) {
  const everything = line === 'slow 4G' ? await visit(page, settings) : undefined;
  const visits = everything ? [everything] : [];
  while (visits.length < runs)
    visits.push(await visit(page, { ...settings, onlyCategories: ['performance'] }));

  const median = (pick) => visits.map(pick).sort((a, b) => a - b)[Math.floor(runs / 2)];
  const audit = (id) => median(({ audits }) => audits[id].numericValue);
  const score = (category) => (everything ? Math.round(everything.categories[category].score * 100) : '');
  const cells = [
    page,
    line,
    Math.round(median(({ categories }) => categories.performance.score) * 100),
    ...['accessibility', 'best-practices', 'seo'].map(score),
    `${(audit('largest-contentful-paint') / 1000).toFixed(2)} s`,
    `${Math.round(audit('total-blocking-time'))} ms`,
    audit('cumulative-layout-shift').toFixed(3),
  ];
  return `| ${cells.join(' | ')} |`;
}
