import type { Report } from '@desk/backend/reports';
import { en } from '@desk/i18n/en';
import { expect, test } from 'vitest';
import { compare } from './compare';

const report = {
  reference: 'DW-2B3C',
  created_at: '2024-11-03T09:05:00',
  product_name: 'Panadol',
  batch_number: 'B-1',
  where_bought: null,
  location: '',
  phone: '0612345678',
  issue_description: 'Bitter.',
} as Report;

test('equal values stand out, missing ones do not', () => {
  const other = { ...report, reference: 'DW-4D5E', batch_number: 'B-2', created_at: '2024-11-04T09:05:00' };
  const lines = compare(report, other, 'en', en);
  expect(lines.filter(({ same }) => same).map(({ name }) => name)).toEqual([
    en.report.product,
    en.report.phone,
    en.report.what,
  ]);
  expect(lines[1]).toEqual({
    name: en.report.received,
    values: ['3 Nov 2024, 09:05', '4 Nov 2024, 09:05'],
    same: false,
  });
});
