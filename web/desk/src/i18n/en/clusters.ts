export const text = {
  title: 'Clusters',
  intro:
    'Reports that may have one cause. A cluster is a reason to look, and proves nothing. Reports that are marked as duplicates are left out.',
  rising: 'Reported more often than before',
  noRising: 'No product stands out this week.',
  line: (now: number, before: number) => `${now} in the last 7 days, before that ${before} a week`,
  weeks: (numbers: string) => `Reports in 13 weeks: ${numbers}`,
  chance: (percent: string) => `by chance: ${percent}`,
  all: (now: number, before: number) =>
    `All reports: ${now} in the last 7 days, before that ${before} a week.`,
  method:
    'By chance: how often so many reports would come if nothing had changed (a test of two Poisson rates, 7 days against the 12 weeks before; at least 3 reports, below 1 %). With 100 products, one is listed by chance alone.',
  kinds: {
    batch: 'Same batch',
    shop: 'Same shop',
    place: 'Same product in one region, within six weeks',
  },
  none: 'None.',
  reports: (n: number) => (n === 1 ? '1 report' : `${n} reports`),
  open: (n: number) => `${n} open`,
  link: 'Link these',
  linked: (n: number) => `${n} reports are linked`,
};
