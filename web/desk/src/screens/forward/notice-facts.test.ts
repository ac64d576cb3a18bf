import type { Report } from '@desk/backend/reports';
import { en } from '@desk/i18n/en';
import { so } from '@desk/i18n/so';
import { expect, test } from 'vitest';
import { noticeFacts } from './notice-facts';

const report: Report = {
  id: 'r1',
  reference: 'DW-2B3C',
  status: 'new',
  product_name: 'Panadol',
  batch_number: 'B-1',
  expiry_date: '2027-03-01',
  where_bought: 'Shop of Cali',
  issue_description: 'Bitter. Call Amina.',
  location: 'Laascaanood, beside the market',
  region: 'Sool',
  district: 'Laascaanood',
  photo_url: 'p.jpg',
  photo_metadata: 'removed',
  name: 'Amina',
  phone: '0612345678',
  phone_e164: '+252612345678',
  language: 'so',
  assigned_to: null,
  duplicate_of: null,
  duplicate_id: null,
  possible_duplicate_of: null,
  version: 1,
  seriousness: null,
  priority: 'normal',
  due_on: null,
  reviewer_notes: null,
  created_at: '2026-11-03T09:05:00',
  updated_at: '2026-11-03T09:05:00',
  first_action_at: null,
  notes: [],
  contacts: [],
  notices: [],
  possible_duplicate: null,
};

test('the facts of a notice name no person and no shop', () => {
  expect(noticeFacts(report, 'en', en)).toEqual([
    ['Reference', 'DW-2B3C'],
    ['Received on', '3 Nov 2026'],
    ['Product', 'Panadol'],
    ['Batch', 'B-1'],
    ['Expires', '1 Mar 2027'],
    ['Place', 'Laascaanood, Sool'],
  ]);
});

test('missing facts are left out', () => {
  const bare = { ...report, batch_number: null, expiry_date: null, region: null, district: null };
  expect(noticeFacts(bare, 'so', so).map(([, value]) => value)).toEqual(['DW-2B3C', '3 Nof 2026', 'Panadol']);
});
