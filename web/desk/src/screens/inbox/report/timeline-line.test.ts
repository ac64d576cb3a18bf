import { en } from '@desk/i18n/en';
import { expect, test } from 'vitest';
import { timelineLine } from './timeline-line';

const names = new Map([['m1', 'Hodan']]);
const line = (action: string, detail = {}) =>
  timelineLine({ id: 1, at: '', action, actor: 'm1', actor_name: 'h@example.org', detail }, en, 'en', names);

test('a change names its fields and their values', () => {
  const { who, what } = line('change', {
    status: ['new', 'closed'],
    assigned_to: [null, 'm1'],
    seriousness: [null, ['death', 'hospital']],
    duplicate_of: [null, '20000000-0000-4000-8000-000000000001'],
  });
  expect(who).toBe('Hodan');
  expect(what).toBe(
    'Status: New → Closed, Assigned to: – → Hodan, Seriousness: Not assessed → Death, Stay in hospital, Duplicate of',
  );
});

test('other entries have their own words', () => {
  expect(line('forward').what).toBe('made a notice to the authority');
  expect(line('contact', { channel: 'call', outcome: 'no_answer' }).what).toBe(
    'logged a contact: Call, No answer',
  );
  expect(timelineLine({ id: 0, at: '', action: 'arrive', detail: {} }, en, 'en', names)).toEqual({
    who: undefined,
    what: 'The report arrived.',
  });
});
