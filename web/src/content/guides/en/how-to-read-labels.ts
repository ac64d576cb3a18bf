import type { Guide } from '../../guides';

export const guide: Guide = {
  slug: 'how-to-read-labels',
  title: 'How to Read Medicine Labels',
  description: 'What the words, dates and numbers on a medicine box mean.',
  icon: 'label',
  category: 'Safety',
  minute: [
    'Read the whole label before the first dose, every time.',
    'Two boxes with different names can hold the same medicine.',
    'A good fake can look exactly like the real medicine, so buy from a source you can trust.',
  ],
  now: [
    'Find the expiry date (EXP) and the batch number (LOT) on every box at home.',
    'Do not use a product if you cannot read its label.',
    'Something looks wrong? Take a photo of the box and report it.',
  ],
  signs: ['swelling', 'breathing', 'drowsy', 'poison'],
  content: [
    {
      type: 'section',
      title: 'Read it before the first dose',
      content:
        'Read the whole label before the first dose, every time. The product may have changed since you last bought it. Do not use a product if you cannot read its label, or if it does not say what is inside.',
    },
    {
      type: 'section',
      title: 'What to look for',
      content: 'A good label tells you all of this. Find each one:',
      figure: {
        name: 'label',
        caption:
          'The box tells you: 1 the name, 2 the active ingredient, 3 the expiry date (EXP), 4 the batch number (LOT).',
      },
    },
    {
      type: 'checklist',
      items: [
        'The name of the medicine and what it is for',
        'The active ingredient (the part that works) and how much of it there is',
        'Directions: how much, how often and for how long, by age',
        'Warnings: who must not use it, what to avoid and when to stop',
        'Advice for pregnancy and breastfeeding',
        'How to store it',
        'The expiry date (EXP) and the batch number (LOT)',
        'In Canada: a DIN with 8 numbers, or an NPN on natural products',
      ],
    },
    {
      type: 'section',
      title: 'Compare ingredients, not brands',
      content:
        'Two boxes with different names can hold the same medicine. Many cold and flu mixtures contain paracetamol (in Canada: acetaminophen or Tylenol). Taking two of them is a common way to take too much.',
    },
    {
      type: 'section',
      title: 'Measure with care',
      content:
        'Never take more than the directions say. Measure a liquid with the spoon, cup or syringe that came with it, not with a kitchen spoon.',
    },
    {
      type: 'section',
      title: 'What the date means',
      content:
        'EXP with a month and a year usually means: you can use it until the last day of that month. “Use by” or “use before” with a month means: stop at the end of the month before.',
    },
    {
      type: 'section',
      title: 'Could it be fake?',
      content:
        'Look for spelling mistakes, bad print, a broken seal, a strange colour, smell or taste, or a price that is far too low. The dates and batch numbers on the box and on the strip must be the same. But a good fake can look exactly like the real medicine. A normal look proves nothing, so buy from a source you can trust.',
    },
    {
      type: 'warning',
      content:
        'Never guess a dose. Never keep tablets in a bag without a label. Never use medicine that was prescribed for someone else. Do not cut off the part of the strip that shows the batch number and the expiry date.',
    },
    {
      type: 'section',
      title: 'Before you leave the pharmacy',
      content:
        'Tell the pharmacist about your other medicines and supplements, your allergies, and if you are or may be pregnant. Keep the medicine in its own box, with its leaflet. If something looks wrong, take a photo of the box, write down the batch number, and report it.',
    },
  ],
  sources: [
    'ASHP',
    'ISMP-LABEL',
    'NHSW-PARA',
    'NHS-PARA',
    'NHS-EXP',
    'UKMI',
    'WHO-SF',
    'HC-SKIN',
    'FDA-HG',
    'ISMP',
  ],
};
