import { expect, test } from 'vitest';
import { attendance } from './presence';

test('a member who opens another report and leaves is gone, another device stays', () => {
  const { join, leave, here } = attendance();
  join({ key: 'asha', newPresences: [{ presence_ref: '1', report: null }] });
  join({ key: 'asha', newPresences: [{ presence_ref: '2', report: 'DW-1' }] });
  leave({ leftPresences: [{ presence_ref: '1' }] });
  join({ key: 'asha', newPresences: [{ presence_ref: '3', report: 'DW-2' }] });
  expect(here()).toEqual({ asha: [{ report: 'DW-1' }, { report: 'DW-2' }] });
  leave({ leftPresences: [{ presence_ref: '2' }] });
  expect(here()).toEqual({ asha: [{ report: 'DW-2' }] });
  leave({ leftPresences: [{ presence_ref: '3' }] });
  expect(here()).toEqual({});
});
