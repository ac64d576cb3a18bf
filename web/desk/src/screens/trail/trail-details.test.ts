import { en } from '@desk/i18n/en';
import { so } from '@desk/i18n/so';
import { expect, test } from 'vitest';
import { trailDetails } from './trail-details';

const names = new Map([['a1', 'Hodan Warsame']]);

test.each([
  [
    { status: ['new', 'actioned'], assigned_to: [null, 'a1'], notes: 'replaced' },
    'status: New → Acted on, assigned to: – → Hodan Warsame, notes: replaced',
    'xaalad: Cusub → Tallaabo la qaaday, loo xilsaaray: – → Hodan Warsame, xusuusinno: la beddelay',
  ],
  [{ reason: 'new', status: 'closed' }, 'reason: new, status: Closed', 'sababta: new, xaalad: Xiran'],
  [
    { reports: 12, since: '2024-11-03T09:05:00', until: '2024-12-01T00:00:00' },
    'reports: 12, since: 3 Nov 2024, 09:05, until: 1 Dec 2024, 00:00',
    'warbixinno: 12, laga bilaabo: 3 Nof 2024, 09:05, ilaa: 1 Dis 2024, 00:00',
  ],
  [
    { from: 'editor', to: 'owner' },
    'role before: Editor, new role: Owner',
    'doorkii hore: Tifaftire, doorka cusub: Mulkiile',
  ],
  [
    { is_active: true, is_featured: false, title_so: 'changed', file_url: 'leaflet.pdf' },
    'shown: yes, featured: no, Somali title: changed, file: leaflet.pdf',
    'muuqda: haa, la xushay: maya, cinwaan Soomaali ah: la beddelay, fayl: leaflet.pdf',
  ],
  [{ hash: '0a1b' }, '', ''],
])('%j', (detail, english, somali) => {
  expect(trailDetails(detail, 'en', en, names)).toBe(english);
  expect(trailDetails(detail, 'so', so, names)).toBe(somali);
});
