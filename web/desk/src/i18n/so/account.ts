import type { text as english } from '../en/account';

export const text: typeof english = {
  title: 'Akoonka',
  until: 'Fadhigani wuxuu dhammaanayaa',
  password: 'Beddel furaha sirta',
  current: 'Furaha hadda',
  currentHelp: 'Looma baahna haddii aad xiriiriye iimayl ku soo gashay.',
  factors: 'Tallaabada labaad',
  app: 'App-ka xaqiijinta',
  passkey: 'Passkey',
  addApp: 'Ku dar app xaqiijin',
  addPasskey: 'Ku dar passkey',
  remove: 'Ka saar',
  noFactor: 'Weli midna. Cinwaan dadweyne waa khasab.',
  everywhere: 'Meel walba ka bax',
  everywhereHelp:
    'Waxay xiraysaa fadhigan iyo dhammaan fadhiyadaada kale, tusaale ahaan markii telefoon kaa lumo.',
};
