import type { Guide } from '../../guides';

export const guide: Guide = {
  slug: 'antibiotics-guide',
  title: 'Using Antibiotics Safely',
  description: 'When antibiotics help, when they do not, and how to use them.',
  icon: 'capsule',
  category: 'Medicine',
  minute: [
    'Antibiotics work only on bacteria. They do nothing against colds and flu.',
    'Use them only when a health worker prescribes them, exactly as you were told.',
    'Wrong use makes germs resistant: the medicine no longer kills them.',
  ],
  now: [
    'Do you take one now? Ask the health worker before you stop, or if you feel worse.',
    'Do you have leftovers? Never use or share them. Give them back to a pharmacy.',
    'Say if you ever reacted badly to an antibiotic, or if you are or may be pregnant.',
  ],
  signs: ['swelling', 'breathing', 'colour', 'skin', 'bleeding', 'limp'],
  content: [
    {
      type: 'section',
      title: 'They work only on bacteria',
      content:
        'Antibiotics fight germs called bacteria. They do nothing against viruses. They do not help with colds, flu, most sore throats, most coughs or a runny nose, even when the mucus is yellow or green.',
      figure: {
        name: 'germs',
        caption: 'Antibiotics fight bacteria (left). They do nothing against viruses (right).',
      },
    },
    {
      type: 'section',
      title: 'When you need them',
      content:
        'Some infections with bacteria get better without antibiotics. When you need them, the good they do is greater than the risk. When you do not need them, they cannot help but can still harm you. Do not press for them if a health worker says no.',
    },
    {
      type: 'section',
      title: 'How to take them',
      content: 'Use them only when a qualified health worker prescribes them to you. Then:',
    },
    {
      type: 'checklist',
      items: [
        'Before the first dose, say if you ever reacted badly to an antibiotic, such as penicillin: a rash, swelling, trouble breathing',
        'Take them exactly as you were told: the amount, the times, the number of days',
        'Ask the health worker before you stop, or if you feel worse',
        'Missed a dose? Take it as soon as you remember. If it is nearly time for the next one, skip the missed one. Never take two together. If the medicine’s leaflet says otherwise, follow it',
        'Never share them, save them for later, or use leftovers or another person’s',
        'Ask how to keep a liquid antibiotic: some need a refrigerator and do not last long once mixed',
        'Say if you are or may be pregnant: some (tetracyclines, streptomycin, kanamycin) can harm the unborn baby',
      ],
    },
    {
      type: 'section',
      title: 'Unwanted effects',
      content:
        'Common ones are rash, dizziness, feeling sick, diarrhoea and yeast infection. Some people get a life-threatening allergy, or a dangerous diarrhoea from a germ called C. difficile.',
    },
    {
      type: 'section',
      title: 'Resistance: when the medicine stops working',
      content:
        'Using antibiotics wrongly or too often makes bacteria resistant: the medicine no longer kills them. In 2019 resistant bacteria were the direct cause of about 1.27 million deaths in the world. Resistance makes common infections, operations and caesarean births more dangerous.',
    },
    {
      type: 'section',
      title: 'TB medicine',
      content:
        'TB is cured with several medicines, taken for months. Take them exactly as prescribed. If you stop early, the germs that are left can become resistant. Tell a health worker at once about yellow skin or eyes, dark urine, vomiting, numb hands or feet, or changed sight. Rifampicin turns urine and tears orange: that is normal. It can weaken the contraceptive pill and other medicines. Say what you take.',
    },
    {
      type: 'section',
      title: 'If you have a cold',
      content:
        'Rest, drink plenty, and treat fever or pain as the label says. Most of these viruses pass in one to two weeks. To stay well: wash your hands, eat safe food, get your vaccines and keep away from people who are sick.',
    },
    {
      type: 'section',
      title: 'Watch out for fakes',
      content:
        'Antibiotics and malaria medicines are among the products most often reported as fake or poor. Buy them from a pharmacy you can trust.',
    },
    {
      type: 'warning',
      content:
        'Get help at once for severe or bloody diarrhoea during or after antibiotics. Go to a health facility if a fever stays or comes back, or if a child cannot drink or is very sleepy.',
    },
  ],
  sources: [
    'CDC-1',
    'NHS-ALLERGY',
    'NHS-MISSED',
    'WHO-ABX',
    'WHO-AMR',
    'CMN-SO',
    'CDC-TB',
    'WHO-TB',
    'NHS-EXP',
    'WHO-SF',
    'CDPH',
    'EWC',
  ],
};
