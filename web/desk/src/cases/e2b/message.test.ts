// @vitest-environment jsdom
import { expect, test } from 'vitest';
import type { IcsrCase } from './case';
import { icsrFile } from './message';

const report: IcsrCase = {
  id: '20000000-0000-4000-8000-000000000001',
  reference: 'DW-7K3M-9QXA',
  created_at: '2026-11-03T09:05:00Z',
  updated_at: '2026-11-04T09:05:00Z',
  product_name: 'Cream <b>"1" & 2</b>',
  batch_number: 'LOT 4',
  expiry_date: '2027-01-31',
  region: 'Bay',
  language: 'so',
  photo_url: null,
  seriousness: ['hospital'],
  words: 'Maqaarku wuu gubtay.\u0007',
};

let n = 0;
const envelope = {
  receiver: 'NMRA',
  now: '2026-11-27T10:00:00Z',
  id: () => `00000000-0000-4000-8000-00000000000${++n % 10}`,
};

const parse = (reports: IcsrCase[]) => {
  const xml = new DOMParser().parseFromString(icsrFile(reports, envelope), 'application/xml');
  expect(xml.querySelector('parsererror')).toBeNull();
  return xml;
};

/** Returns the value beside the code of an observation. */
const observedValue = (xml: Document, name: string) =>
  xml.querySelector(`code[displayName="${name}"]`)?.parentElement?.querySelector('value');

test('a long text keeps its last character whole or loses it', () => {
  const words = `${'a'.repeat(249)}\u{1F600}b`;
  const text = parse([{ ...report, words }]).querySelector('originalText')?.textContent;
  expect(text).toBe('a'.repeat(249));
});

test('a case has its facts, its criteria, and null flavours for the rest', () => {
  const xml = parse([report]);
  expect(xml.documentElement.namespaceURI).toBe('urn:hl7-org:v3');
  expect(xml.querySelector('investigationEvent > id')?.getAttribute('extension')).toBe(
    'SO-DAAWO-DW-7K3M-9QXA',
  );
  expect(xml.querySelector('investigationEvent > effectiveTime > low')?.getAttribute('value')).toBe(
    '20261103090500+0000',
  );
  expect(xml.querySelector('kindOfProduct > name')?.textContent).toBe('Cream <b>"1" & 2</b>');
  expect(xml.querySelector('lotNumberText')?.textContent).toBe('LOT 4');
  expect(xml.querySelector('investigationEvent > text')?.textContent).toBe('Maqaarku wuu gubtay.');
  expect(xml.querySelector('originalText')?.getAttribute('language')).toBe('som');
  expect(observedValue(xml, 'requiresInpatientHospitalization')?.getAttribute('value')).toBe('true');
  expect(observedValue(xml, 'resultsInDeath')?.getAttribute('nullFlavor')).toBe('NI');
  expect(xml.querySelector('player1 > name')?.getAttribute('nullFlavor')).toBe('MSK');
  expect(xml.querySelector('birthTime')?.getAttribute('nullFlavor')).toBe('NASK');
  expect(observedValue(xml, 'comment')?.textContent).toContain('2027-01-31');
});

test('the assessment names the product of its own case, and a batch has a message for each', () => {
  const xml = parse([
    report,
    { ...report, reference: 'DW-0000-0002', region: null, photo_url: '1.jpg', batch_number: null },
  ]);
  const messages = [...xml.querySelectorAll('PORR_IN049016UV')];
  expect(messages).toHaveLength(2);
  const ids = messages.map((message) => [
    message.querySelector('organizer substanceAdministration > id')?.getAttribute('root'),
    message.querySelector('productUseReference > id')?.getAttribute('root'),
  ]);
  expect(ids[0]?.[0]).toBe(ids[0]?.[1]);
  expect(ids[1]?.[0]).toBe(ids[1]?.[1]);
  expect(ids[0]?.[0]).not.toBe(ids[1]?.[0]);
  expect(messages[1]?.querySelector('locatedPlace, lotNumberText, asLocatedEntity')).toBeNull();
  expect(observedValue(xml, 'additionalDocumentsAvailable')?.getAttribute('value')).toBe('false');
  expect(messages[1]?.querySelector('document > title')?.textContent).toBe('Photo of the product');
});
