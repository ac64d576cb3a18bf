import { expect, test } from 'vitest';
import { csv, table } from './csv';

test('a spreadsheet takes no cell for a formula', () => {
  const text = csv([
    ["=cmd|' /C calc'!A0", '+252612345678', '@x', '-1', '\tx'],
    [-1, 2, null, undefined, 'a "b", c'],
  ]);
  expect(text).toBe(`'=cmd|' /C calc'!A0,'+252612345678,'@x,'-1,'\tx\r\n-1,2,,,"a ""b"", c"\r\n`);
});

test('a spreadsheet trims spaces and marks, and knows wide signs', () => {
  const starts = [
    ' =1',
    '\u200b=1',
    '\ufeff \u202e+1',
    '＝1',
    '＋1',
    '－1',
    '＠x',
    '﹢1',
    '﹣1',
    '﹦1',
    '﹫x',
    '\n=1',
  ];
  for (const start of starts) expect(csv([[start]]).replaceAll('"', '')).toBe(`'${start}\r\n`);
  expect(csv([['ﬂour', ' x', 'a=1']])).toBe('ﬂour, x,a=1\r\n');
});

test('a spreadsheet shows each batch as it was typed', () => {
  const changed = [
    '0012',
    '00',
    '1234567890123456',
    '12E5',
    '1.50',
    '3-12',
    '12/26',
    '5 %',
    '1:30',
    'MAR26',
    '3 Sept',
  ];
  for (const batch of changed) expect(csv([[batch]])).toBe(`'${batch}\r\n`);
  for (const text of ['0', '12', '123456789012345', 'LOT12', 'B-12', '2026-03-12', '2026-03', 'March'])
    expect(csv([[text]])).toBe(`${text}\r\n`);
  expect(csv([[0.5, 1e21]])).toBe('0.5,1e+21\r\n');
});

test('table begins with the named columns', () => {
  const records = [
    { id: 1, region: null, reference: 'DW-2B3C' },
    { region: 'Sool', reference: 'DW-4D5E', id: 2 },
  ];
  expect(table(records, ['reference', 'region'])).toEqual([
    ['reference', 'region', 'id'],
    ['DW-2B3C', null, 1],
    ['DW-4D5E', 'Sool', 2],
  ]);
  expect(table([], ['reference'])).toEqual([['reference']]);
});
