import type { text as english } from '../en/guides';

export const text: typeof english = {
  title: 'Hageyaal',
  intro:
    'Hagaha wuxuu luqad kasta ku leeyahay hal qoraal iyo hal fayl. Farmashiiste ayaa saxiixa; booqdayaashu waxay arkaan magaca iyo maalinta.',
  empty: 'Weli hage ma jiro. Agab hage leh ayaa mid ku dara.',
  version: (n) => `nooca ${n}`,
  replacedOn: (day) => `la beddelay ${day}`,
  files: 'Faylal',
  noFile: 'Weli fayl ma jiro.',
  texts: 'Qoraallo iyo goob',
  textsHelp:
    'Qoraal kale ama fayl kale ayaa dib-u-eegista soo afjara: hagaha wuxuu u baahan yahay mid cusub.',
  place: 'Goobta liiska',
  picture: 'Sawir',
  choosePicture: 'Dooro sawir',
  noPicture: 'Ka saar',
  review: 'Dib-u-eegis',
  notReviewed: 'Dib looma eegin',
  reviewDue: 'Dib-u-eegistii waa la gaaray',
  reviewedUntil: (day) => `Waa la eegay ilaa ${day}`,
  reviewedBy: (who, day, next) => `Waxaa eegay ${who}, ${day}. Dib-u-eegista xigta: ${next}.`,
  notReviewedHelp: 'Farmashiiste ma saxiixin qoraallada iyo faylasha hadda. Bogga ayaa sidaas sheega.',
  signOff: 'Saxiix',
  signOffTitle: (title) => `Ma saxiixaysaa “${title}”?`,
  signOffHelp: (name) =>
    `Waxaad xaqiijinaysaa inaad akhriday qoraallada iyo fayl kasta. Booqdayaashu waxay arkaan magacaaga, ${name}, xirfaddaada iyo maalinta.`,
  profession: 'Xirfaddaada, sida Farmashiiste',
  nextReview: 'Dib-u-eegista xigta',
  needsFactor: 'Saxiixu wuxuu u baahan yahay magacaaga iyo tallaabo labaad:',
  signed: 'Hagaha waa la saxiixay',
};
