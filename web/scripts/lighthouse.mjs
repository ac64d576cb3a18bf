/*
 * Measures pages of a running stack with Lighthouse and prints docs/performance.md's table: the median of three
 * runs on slow 4G (Lighthouse's mobile default) and on poor 3G (400 ms, 400 kbit/s, a six times slower processor).
 *
 *   node scripts/lighthouse.mjs http://127.0.0.1:54321
 */
import { launch } from 'chrome-launcher';
import lighthouse from 'lighthouse';

const [origin = 'http://127.0.0.1:54321', ...asked] = process.argv.slice(2);
const pages =
  asked.length > 0 ? asked : ['/', '/so/', '/learn/antibiotics-guide/', '/report/', '/resources/'];
const runs = 3;
const lines = {
  'slow 4G': undefined,
  'poor 3G': { rttMs: 400, throughputKbps: 400, cpuSlowdownMultiplier: 6 },
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
  console.log('| page | line | performance | accessibility | best practices | SEO | LCP | TBT | CLS |');
  console.log('|---|---|---|---|---|---|---|---|---|');
  for (const page of pages) {
    for (const [name, throttling] of Object.entries(lines)) console.log(await row(page, name, throttling));
  }
} finally {
  chrome.kill();
}

async function row(page, name, throttling) {
  const results = [];
  for (let run = 0; run < runs; run++) {
    const result = await lighthouse(origin + page, {
      port: chrome.port,
      logLevel: 'error',
      ...(throttling && { throttling, onlyCategories: ['performance'] }),
    });
    results.push(result.lhr);
  }
  const median = (pick) => results.map(pick).sort((a, b) => a - b)[Math.floor(runs / 2)];
  const score = (category) =>
    throttling && category !== 'performance'
      ? ''
      : Math.round(median((r) => r.categories[category]?.score ?? 0) * 100);
  const audit = (id) => median((r) => r.audits[id].numericValue);
  const cells = [
    page,
    name,
    ...['performance', 'accessibility', 'best-practices', 'seo'].map(score),
    `${(audit('largest-contentful-paint') / 1000).toFixed(2)} s`,
    `${Math.round(audit('total-blocking-time'))} ms`,
    audit('cumulative-layout-shift').toFixed(3),
  ];
  return `| ${cells.join(' | ')} |`;
}
