import type { text as english } from '../en/clusters';

export const text: typeof english = {
  title: 'Kooxo',
  intro:
    'Warbixinno sabab keliya lahaan kara. Kooxdu waa sabab wax loo eego, waxbana ma caddayso. Warbixinnada nuqul loo calaamadiyay waa laga reebay.',
  rising: 'Wax ka badan sidii hore ayaa la soo sheegay',
  noRising: 'Toddobaadkan alaab gaar u muuqata ma jirto.',
  line: (now, before) => `7 maalmood ee u dambeeyay: ${now}; toddobaadkii hore: ${before}`,
  weeks: (numbers) => `Warbixinnada 13 toddobaad: ${numbers}`,
  chance: (percent) => `nasiib: ${percent}`,
  all: (now, before) =>
    `Dhammaan warbixinnada: 7 maalmood ee u dambeeyay: ${now}; toddobaadkii hore: ${before}.`,
  method:
    'Nasiib: inta jeer ee warbixinno intaas le’eg iman lahaayeen haddii waxba isbeddelin (imtixaanka laba heer oo Poisson, 7 maalmood iyo 12 toddobaad ee ka horreeyay; ugu yaraan 3 warbixinood, ka yar 1 %). 100 alaab, mid baa nasiib keliya ku soo gala.',
  kinds: {
    batch: 'Isla dufcad',
    shop: 'Isla dukaan',
    place: 'Isla alaab hal gobol, lix toddobaad gudahood',
  },
  none: 'Midna.',
  reports: (n) => (n === 1 ? '1 warbixin' : `${n} warbixinood`),
  open: (n) => `${n} furan`,
  link: 'Kuwan isku xir',
  linked: (n) => `${n} warbixinood waa la isku xiray`,
};
