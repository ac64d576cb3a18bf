/** Invented reports for the pictures of the desk: no product, shop or person in them exists. */

const day = 86_400_000;
const products = [
  ['Paracetamol 500 mg tablets', 6],
  ['Amoxicillin 250 mg capsules', 5],
  ['Metformin 850 mg', 4],
  ['Vitamin B complex', 4],
  ['Cough syrup without a label', 3],
  ['Skin cream without a label', 3],
  ['Oral rehydration salts', 2],
  ['Eye drops', 1],
].flatMap(([name, share]) => Array(share).fill(name));
const regions = [
  'Banaadir',
  'Banaadir',
  'Bay',
  'Bari',
  'Woqooyi Galbeed',
  'Mudug',
  'Togdheer',
  'Hiraan',
  'Nugaal',
  'Gedo',
];
const words = [
  'The tablets crumble and smell of vinegar.',
  'The box names another maker than the blister.',
  'My child had a rash on the second day.',
  'The date on the bottle is painted over.',
  'It looks different from the last box.',
];
const statuses = ['closed', 'closed', 'closed', 'actioned', 'actioned', 'reviewing'];

/** The newest reports, which the pictures show in full. */
const newest = [
  {
    minutes: 9,
    product_name: 'Lightening lotion',
    issue_description:
      'My skin burned and became red after two days of use. The next morning my face was swollen.',
    batch_number: 'LOT 4/77',
    where_bought: 'Shop beside the old market',
    location: 'Hodan, Banaadir',
    region: 'Banaadir',
    district: 'Hodan',
    name: 'Amina Cali',
    phone: '061 2345678',
    phone_e164: '+252612345678',
    language: 'en',
    priority: 'high',
  },
  {
    minutes: 95,
    product_name: 'Paracetamol 500 mg tablets',
    issue_description: 'Kiniinnadu way burburaan oo waxay u uraan khal.',
    region: 'Togdheer',
    language: 'so',
  },
  {
    minutes: 7 * 60,
    product_name: 'Lightening lotion',
    issue_description: 'Red skin that burns since Tuesday, where I put the lotion.',
    batch_number: 'LOT-4 77',
    where_bought: 'shop beside the old market',
    region: 'Banaadir',
    status: 'reviewing',
    seriousness: ['hospital'],
    priority: 'urgent',
    language: 'en',
  },
  {
    minutes: 26 * 60,
    product_name: 'Eye drops',
    issue_description: 'The seal was open when I bought it.',
    region: 'Bari',
    status: 'actioned',
    language: 'en',
  },
  {
    minutes: 31 * 60,
    product_name: 'lightening lotion',
    issue_description: 'My sister has red spots after this lotion.',
    batch_number: 'lot 4/77',
    where_bought: 'Shop beside the old market.',
    region: 'Banaadir',
    language: 'so',
  },
  {
    minutes: 50 * 60,
    product_name: 'Lightening lotion',
    issue_description: 'It has no name of a maker on it.',
    region: 'Bay',
    status: 'closed',
    seriousness: [],
    language: 'so',
  },
];

/** Returns rows for public.reports: some in full, and 300 more of a year, more and more of them. */
export function inventedReports(now = Date.now()) {
  const made = Array.from({ length: 300 }, (_, i) => {
    const age = 3 + 350 * (i / 300) ** 1.8;
    const at = now - age * day - ((i * 7919) % 600) * 60_000;
    const status = age < 12 ? 'new' : statuses[i % statuses.length];
    const lot = i % 5 === 0 ? `PX ${100 + (i % 40)}` : null;
    return {
      product_name: products[(i * 31) % products.length],
      issue_description: words[(i * 17) % words.length],
      batch_number: lot,
      region: i % 23 === 0 ? null : regions[(i * 13) % regions.length],
      language: i % 3 === 0 ? 'en' : 'so',
      status,
      created_at: new Date(at).toISOString(),
      first_action_at:
        status === 'new' ? null : new Date(at + (4 + ((i * 37) % 40)) * 3_600_000).toISOString(),
    };
  });
  const blank = Object.fromEntries([...newest, ...made].flatMap(Object.keys).map((name) => [name, null]));
  const shown = newest.map(({ minutes, ...row }) => ({
    ...row,
    created_at: new Date(now - minutes * 60_000).toISOString(),
  }));
  const { minutes: _, ...empty } = blank;
  return [...shown, ...made].map((row) => ({ ...empty, status: 'new', priority: 'normal', ...row }));
}
