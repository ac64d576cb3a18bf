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
