export const text = {
  title: "Women's Health",
  description:
    'What lightening creams can do to your skin and your baby, and safer ways to care for your skin.',
  heading: 'Your health, your skin, your choice',
  lead: 'Many products sold to women promise lighter skin and do not say what is inside. Here is what to know, without shame.',
  statistics: {
    unsafe: {
      name: 'Unsafe Products',
      counts: 'Of the lightening products we know, we think that this part is unsafe.',
    },
    risks: {
      name: 'Health Risks',
      counts: 'Of the people who use them, we think that this part is at risk.',
    },
    prevention: { name: 'Prevention Rate', counts: 'Of the harm, we think that this part can be prevented.' },
  },
  figures: 'We made these three numbers ourselves. They come from no study, and nobody else has checked them.',
  study:
    'In a study with Somali women in Minneapolis–St Paul, 11 of 27 products tested contained mercury (Minnesota Medicine, 2013).',
  risksTitle: 'Key health risks',
  severity: { high: 'High severity', medium: 'Medium severity' },
  risks: {
    mercury: {
      title: 'Mercury',
      content:
        'Damages the kidneys and nerves. It can poison babies and others at home who never used the cream.',
    },
    steroids: {
      title: 'Strong steroids',
      content: 'Make the skin thin and weak and can upset your hormones. Ask a health worker how to stop.',
    },
    hydroquinone: {
      title: 'Hydroquinone',
      content: 'Can cause rash, a swollen face and blue-black marks that may stay for ever.',
    },
  },
  familyTitle: 'Pregnancy and breastfeeding',
  family: {
    pregnancy: {
      title: 'In pregnancy',
      items: [
        'Medicines and creams can reach the baby. Ask before you start one, and before you stop one.',
        'From 20 weeks avoid ibuprofen and similar painkillers, unless a health professional tells you to use them.',
        'Use no lightening creams: mercury can reach the baby.',
      ],
    },
    breastfeeding: {
      title: 'While you breastfeed',
      items: [
        'Most medicines are possible. Paracetamol and most antibiotics are usually fine.',
        'Codeine and tramadol are not advised: the baby may breathe slowly and even die.',
        'Say if your baby was born early or had jaundice.',
      ],
    },
  },
  helpTitle: 'Where to get help',
  alternativesTitle: 'Safe Alternatives',
  alternatives: {
    sunscreen: {
      title: 'Daily sunscreen protection',
      content: 'SPF 30 or more, “broad spectrum”. Put it on again every 2 hours outdoors.',
    },
    moisturizers: {
      title: 'Gentle moisturizers',
      content: 'Plain and without perfume. Your skin needs nothing more.',
    },
    consultation: {
      title: 'Professional consultation',
      content: 'For dark patches or spots, ask a doctor or pharmacist before you buy anything.',
    },
  },
  beautyTitle: 'Celebrate Your Natural Beauty',
  beauty:
    'Every natural skin colour is healthy. The melanin that makes your skin dark protects you from the sun. Nobody needs to be lighter to be beautiful.',
  communityTitle: 'Join Our Community',
  community: 'Talk with other women, ask questions, and hear about new warnings.',
  whatsapp: 'Join WhatsApp Group',
  facebook: 'Follow on Facebook',
  download: "Download Women's Safety Guide",
  downloadAlert: 'Safety guide download will be available soon',
  readCreams: 'Dangers of Skin-Lightening Creams',
  readPregnancy: 'Medicine in Pregnancy and Breastfeeding',
  readTitle: 'Read more in our guides',
};
