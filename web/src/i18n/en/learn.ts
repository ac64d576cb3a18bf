export const text = {
  title: 'Learn',
  description:
    'Six short guides in plain words: labels, antibiotics, skin-lightening creams, pregnancy, expired medicine and pain relief.',
  heading: 'Learn to use medicine safely',
  lead: 'Six short guides in plain words. Read them, print them, share them.',
  guidesTitle: 'The guides',
  categories: {
    Safety: 'Safety',
    Medicine: 'Medicine',
    "Women's Health": "Women's Health",
  },
  risksTitle: 'Key health risks',
  risks: {
    antibiotics: {
      title: 'Antibiotics',
      content: 'They do not cure viruses. Wrong use causes side effects, and germs learn to survive them.',
    },
    painkillers: {
      title: 'Painkillers and steroids',
      content:
        'Too much paracetamol harms the liver; ibuprofen and similar ones can harm the stomach and kidneys; opioids slow the breathing. Steroids used for long must not be stopped suddenly.',
    },
    creams: {
      title: 'Skin-lightening mixes',
      content: 'Mercury, hydroquinone and steroids can damage the kidneys and nerves, and the skin for ever.',
    },
    expired: {
      title: 'Expired or counterfeit products',
      content: 'They may not work, and they may poison.',
    },
    pregnancy: {
      title: 'Pregnancy or breastfeeding',
      content: 'Medicines and creams can reach the baby. Ask before you start or stop one.',
    },
  },
  beautyTitle: 'Your skin tone is already beautiful',
  beauty: 'Every natural skin colour is healthy. It needs care, not lightening.',
  reminderTitle: 'Important reminder',
  reminder:
    'If a product gives you a bad reaction, get medical attention at once. Keep the product and its box, take photos, write down what happened and when, and report it.',
  report: 'Report the product',
};
