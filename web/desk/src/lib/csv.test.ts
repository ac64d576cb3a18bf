import { expect, test } from 'vitest';
import { csv, table } from './csv';

test('a spreadsheet takes no cell for a formula', () => {
  const text = csv([
    ["=cmd|' /C calc'!A0", '+252612345678', '@x', '-1', '\tx'],
    [-1, 2, null, undefined, 'a "b", c'],
  ]);
  expect(text).toBe(`'=cmd|' /C calc'!A0,'+252612345678,'@x,'-1,'\tx\r\n-1,2,,,"a ""b"", c"\r\n`);
});

test('table puts the names of the first record above the rows', () => {
  const records = [
    { reference: 'DW-2B3C', region: null },
    { region: 'Sool', reference: 'DW-4D5E' },
  ];
  expect(table(records, ['reference'])).toEqual([
    ['reference', 'region'],
    ['DW-2B3C', null],
    ['DW-4D5E', 'Sool'],
  ]);
  expect(table([], ['reference'])).toEqual([['reference']]);
});
