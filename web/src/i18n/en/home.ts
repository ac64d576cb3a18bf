export const text = {
  title: 'Medicine safety for Somali communities',
  description:
    'Learn to use medicine safely, and report a harmful or fake product, in English and Somali. For Somali women, youth and families in Somalia and Toronto.',
  heading: 'Medicine helps when it is used safely',
  lead: 'Learn the dangers of misused antibiotics, painkillers and steroids, of mixed skin-lightening creams, and of expired or fake medicine. If a product worries you, tell us.',
  learnRisks: 'Learn the risks',
  reportProduct: 'Report a product',
  tipsTitle: 'Three tips that protect your family',
  tips: {
    mixing: {
      title: 'Stop mixing creams',
      content: 'Mixed creams can hide mercury, hydroquinone or strong steroids.',
    },
    expiry: {
      title: 'Check expiry dates',
      content: 'After the date nobody can promise that a medicine is safe or works.',
    },
    sources: {
      title: 'Buy from trusted sources',
      content: 'A good fake can look exactly like the real medicine.',
    },
  },
  about: {
    title: 'Who we are',
    content:
      'Daawo is a non-profit that works with Somali communities in Somalia and in Toronto, Canada. We sell nothing. We name the source of what we write.',
    link: 'More about us',
  },
  warning: {
    title: 'Warning from WHO',
    date: 'Warning of 23 January 2023',
    content:
      'Cough syrups for children were found to contain a poison (diethylene glycol). Buy a syrup only from a source you trust. If a child becomes ill after one, get medical help at once and keep the bottle.',
    all: 'WHO’s latest warnings',
  },
  quickTitle: 'Where would you like to go?',
  quick: {
    learn: { title: 'Learn', content: 'Six short guides in plain words' },
    womensHealth: { title: "Women's Health", content: 'Skin, pregnancy and breastfeeding' },
    report: { title: 'Report', content: 'Tell us about a harmful product, in confidence' },
    contact: { title: 'Contact', content: 'WhatsApp, e-mail and Facebook' },
  },
};
