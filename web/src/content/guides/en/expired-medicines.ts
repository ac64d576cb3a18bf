import type { Guide } from '../../guides';

export const guide: Guide = {
  slug: 'expired-medicines',
  title: 'Expired and Fake Medicines',
  description: 'Why old or fake medicine is a risk, how to store medicine and how to throw it away.',
  icon: 'calendar',
  category: 'Safety',
  minute: [
    'After the expiry date nobody can promise that a medicine is safe or works.',
    'Heat, damp and light spoil medicine even before its date.',
    'Fakes are sold in markets and online, but also in pharmacies and clinics.',
  ],
  now: [
    'Look through your medicines. Take out what is old or left over.',
    'Give it back to a pharmacy. Do not give, sell or send it to anyone.',
    'Have you taken one? Stop, keep the pack, and ask a pharmacist or a poison centre.',
  ],
  signs: ['swelling', 'breathing', 'drowsy', 'bleeding', 'poison'],
  content: [
    {
      type: 'section',
      title: 'After the date, do not use it',
      content:
        'After the expiry date nobody can promise that a medicine is safe or works. It may be weaker or may have changed. In some, bacteria can grow. A weak antibiotic may fail and help germs become resistant.',
    },
    {
      type: 'section',
      title: 'What the date means',
      content:
        'EXP with a month and a year usually means: you can use it until the last day of that month. “Use by” or “use before” with a month means: stop at the end of the month before.',
    },
    {
      type: 'section',
      title: 'Some medicines end sooner',
      content:
        'Once opened, a medicine may not last as long: an antibiotic syrup about one to two weeks after mixing, eye drops about a month. Follow the label or ask the pharmacist. If it looks, smells or tastes different, do not use it.',
    },
    {
      type: 'section',
      title: 'Keep it well',
      content: 'Heat, damp and light spoil medicine even before its date.',
      figure: {
        name: 'store',
        caption: 'High up or locked, cool, dry and dark. Not in the sun, not in steam.',
      },
    },
    {
      type: 'checklist',
      items: [
        'Keep it cool, dry and dark',
        'Not in the bathroom, in kitchen steam, in a car or in the sun',
        'Locked away or high up, where children cannot see or reach it',
        'Look through your medicines regularly. Take out what is old or left over',
      ],
    },
    {
      type: 'section',
      title: 'Throw it away safely',
      content:
        'Best: give it back to a pharmacy. If that is not possible: do not crush it. Mix it with soil or used coffee grounds, close it in a bag and put it in the household waste. Cross out your name on the box. Do not flush it or pour it away unless the leaflet says so. Do not burn it at home.',
    },
    {
      type: 'section',
      title: 'Fake and poor medicine',
      content:
        'WHO says that in poorer countries at least 1 in 10 medical products is fake or of poor quality. They are sold in street markets and online, but also in pharmacies and clinics. A fake may hold nothing, chalk or starch, the wrong medicine, too little or too much. In Mogadishu, doctors have spoken of patients made ill by expired or fake medicine.',
    },
    {
      type: 'section',
      title: 'Check what you buy',
      content:
        'Some sellers change the date. Look for a date that is scratched or covered by another. Do not give, sell or send expired medicine to anyone, not even to family.',
    },
    {
      type: 'warning',
      content:
        'Have you already taken one? Do not panic. Stop, keep the pack, and ask a pharmacist or a poison centre. If you see a danger sign, get emergency help.',
    },
  ],
  sources: ['FDA-EXP', 'NHS-EXP', 'UKMI', 'ISMP', 'FDA-DISP', 'MEDICURE', 'WHO-SF', 'AJ'],
};
