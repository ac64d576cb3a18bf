import type { Guide } from '../../guides';

export const guide: Guide = {
  slug: 'skin-cream-dangers',
  title: 'Dangers of Skin-Lightening Creams',
  description: 'What can hide in lightening and mixed creams, and safer care for your skin.',
  icon: 'cream',
  category: "Women's Health",
  minute: [
    'Every natural skin colour is healthy.',
    'Many lightening products hold mercury, hydroquinone or strong steroids, and the label does not always say so.',
    'Others at home, above all babies, can be poisoned by a cream that they never used.',
  ],
  now: [
    'Mercury or hydroquinone: stop now. Wash your hands and your skin.',
    'A strong steroid used for weeks or months: ask a health worker at once how to stop.',
    'Put the product in a closed bag, keep the label and a photo, and report it.',
  ],
  signs: ['swelling', 'breathing', 'skin', 'drowsy', 'poison'],
  content: [
    {
      type: 'section',
      title: 'Your skin is healthy as it is',
      content:
        'Every natural skin colour is healthy. Melanin, the colour in your skin, protects you from the sun. This guide blames nobody. It is here to keep you safe.',
    },
    {
      type: 'section',
      title: 'What can be inside',
      content:
        'Many lightening products hold mercury, hydroquinone or strong steroids. Often these are mixed, and they are not always listed. In a study with Somali women in Minneapolis–St Paul, 11 of 27 products tested contained mercury.',
    },
    {
      type: 'section',
      title: 'Do not mix creams',
      content:
        'Mixing puts unknown things together in unknown amounts. For example, tretinoin with hydroquinone makes the side effects worse.',
    },
    {
      type: 'section',
      title: 'Mercury',
      content:
        'You cannot see, smell or taste it. It can damage the kidneys, nerves and skin, and bring anxiety or depression. Others at home, above all babies, can be poisoned by vapour, towels or touch. It can harm the brain of an unborn baby or a small child. Signs: shaking, memory problems, changes in sight or hearing, a numb mouth, hands or feet, feeling irritable, shy or low. A UN treaty tells its member countries to end mercury in cosmetics.',
    },
    {
      type: 'section',
      title: 'Hydroquinone',
      content:
        'It can cause a rash, a swollen face, and blue-black marks that may stay for ever. In Canada more than 2% needs a prescription. It is not recommended in pregnancy, while breastfeeding, or for children.',
    },
    {
      type: 'section',
      title: 'Strong steroids',
      content:
        'Clobetasol and betamethasone are strong steroids. Used to lighten skin, they can make it thin, with stretch marks, visible blood vessels, spots and infections. Enough of them can upset your hormones.',
      figure: {
        name: 'skin',
        caption:
          'Dark skin, from the left: healthy; thin, with stretch marks and visible blood vessels (strong steroids); blue-black marks (hydroquinone).',
      },
    },
    {
      type: 'section',
      title: 'Read the label',
      content:
        'Do not use a product with no list of ingredients, with a label you cannot read, or with one of these words: mercury, mercurio, mercuric, mercurous chloride, calomel, cinnabar.',
    },
    {
      type: 'section',
      title: 'If you have used such a cream',
      content: 'You are not alone, and help is possible:',
    },
    {
      type: 'checklist',
      items: [
        'Mercury or hydroquinone: stop now. Wash your hands and your skin',
        'A strong steroid used for weeks or months: ask a health worker at once how to stop. Stopping can bring strong redness and burning. Do not start again on your own',
        'Put the product in a closed bag. Do not give it away or sell it',
        'Keep the label and a photo for your report',
        'See a health worker, sooner if you are pregnant, breastfeeding or have children at home',
      ],
    },
    {
      type: 'section',
      title: 'Safer care',
      content:
        'Use sunscreen (SPF 30 or more, “broad spectrum”), clothes and shade, and a plain moisturizer. Ask a doctor about dark patches.',
    },
    {
      type: 'warning',
      content:
        'Get medical help soon for a swollen face, strong redness, burning or blisters. Do the same if anyone in a home with such a cream has shaking, numbness or memory problems.',
    },
  ],
  sources: [
    'WHO-HG',
    'FDA-HG',
    'MDH',
    'MINAMATA',
    'MNMED',
    'FDA-HQ',
    'HC-HQ',
    'HC-BLUE',
    'SOUTHWARK',
    'MHRA-TSW',
    'AAD',
  ],
};
