import type { text as english } from '../en/staff';

export const text: typeof english = {
  title: 'Shaqaale',
  invite: 'Casuun xubin',
  email: 'Iimayl',
  role: 'Door',
  send: 'Dir casuumaad',
  sent: (email) => `${email} wuxuu helayaa iimayl xiriiriye leh.`,
  added: (email) => `${email} akoon ayuu lahaa, hadda doorka ayuu leeyahay.`,
  last: 'Soo gelistii u dambaysay',
  never: 'marna',
  factor: 'Tallaabada labaad',
  yes: 'haa',
  no: 'weli maya',
  sessions: 'Fadhiyo',
  end: 'Meel walba ka saar',
  unlock: 'Ka saar tallaabada labaad',
  unlockTitle: (name) => `Ma ka saaraysaa ${name} tallaabada labaad?`,
  unlockHelp:
    'Waxaa loogu talagalay xubin taleefanku ka lumay. Marka hore qofka la hadal: iimayl keliya ha ku kalsoonaan. Fadhiyada xubintan waa la xirayaa, soo gelista xigtana waxaa lagu samaynayaa tallaabo labaad oo cusub.',
  unlocked: (name) => `${name} hadda ma laha tallaabo labaad`,
  remove: 'Ka saar',
  removeTitle: (name) => `Ma ka saaraysaa ${name}?`,
  removeHelp: 'Fadhiyada xubintan isla markiiba waa la xirayaa. Akoonku wuu jirayaa, door la’aan.',
  removed: (name) => `${name} waa laga saaray`,
  changed: (name) => `Doorka ${name} waa la beddelay`,
};
