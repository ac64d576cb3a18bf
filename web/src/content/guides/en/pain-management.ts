import type { Guide } from '../../guides';

export const guide: Guide = {
  slug: 'pain-management',
  title: 'Safe Pain Relief',
  description: 'How to use painkillers safely, and why strong ones and steroids need care.',
  icon: 'bandage',
  category: 'Medicine',
  minute: [
    'Use the mildest thing that works, the lowest amount, for the shortest time.',
    'Never take two products with paracetamol together: too much can destroy the liver.',
    'Strong painkillers can make you dependent, slow your breathing and kill.',
  ],
  now: [
    'Read on every box whether it holds paracetamol (acetaminophen, Tylenol).',
    'Too much taken? Go to a hospital at once, even if you feel well.',
    'Need tablets every day? See a health worker.',
  ],
  signs: ['slow', 'drowsy', 'bleeding', 'swelling', 'breathing', 'skin', 'poison'],
  content: [
    {
      type: 'section',
      title: 'Start with the mildest',
      content:
        'Use the mildest thing that works, the lowest amount, for the shortest time. Rest, cold or warmth and gentle movement can help too.',
    },
    {
      type: 'section',
      title: 'Paracetamol (acetaminophen, Tylenol)',
      content:
        'Adults: 500 mg to 1 g, at least 4 hours apart. Never more than 4 doses, or 4 g (eight tablets of 500 mg), in 24 hours. Ask first if you weigh less than 50 kg, have liver or kidney trouble, drink a lot of alcohol, or take TB or epilepsy medicine: you may need less. Never take two products with paracetamol together.',
      figure: {
        name: 'tablets',
        caption: 'Paracetamol for adults: never more than eight tablets of 500 mg in 24 hours.',
      },
    },
    {
      type: 'warning',
      content:
        'Too much paracetamol can destroy the liver. At first you may only feel sick. The antidote works best within about 8 hours. Go to a hospital at once, even if you feel well.',
    },
    {
      type: 'section',
      title: 'Ibuprofen',
      content:
        'Adults, without a prescription: 200 to 400 mg, up to 3 times a day, 6 hours apart. At most 1,200 mg in 24 hours, and not for more than 10 days without advice. Take it with food or milk. Never take two of ibuprofen, diclofenac, naproxen and aspirin together. Ask before you use one of them if you:',
    },
    {
      type: 'checklist',
      items: [
        'had an allergy or wheezing from such a painkiller',
        'have had a stomach ulcer, bleeding or a stroke',
        'have heart, kidney or liver disease, or high blood pressure that is not controlled',
        'have asthma or chickenpox, or take blood thinners',
        'are pregnant, or over 65',
      ],
    },
    {
      type: 'section',
      title: 'Children',
      content:
        'A child’s dose depends on weight and age: ask a pharmacist or health worker. Use a medicine made for children. Measure syrup with the spoon or syringe that comes with it. Never give a child an adult tablet. No ibuprofen for a child who has chickenpox or has lost a lot of water. No aspirin under 16 years, unless a doctor says so. It can cause Reye’s syndrome, which harms the brain and the liver.',
    },
    {
      type: 'section',
      title: 'Metamizole (dipyrone, Novalgin)',
      content:
        'Only for severe pain or fever that nothing else controls, and on prescription. Rarely it destroys the white blood cells that fight infection, at any dose and at any time. Fever, chills, a sore throat or sores in the mouth: stop it and see a doctor at once. Not in the last 3 months of pregnancy, and not while breastfeeding.',
    },
    {
      type: 'section',
      title: 'Strong painkillers (opioids)',
      content:
        'Tramadol, codeine and morphine can make you dependent, slow your breathing and kill. Use them only on prescription, never with alcohol or with sleeping or calming medicine. Codeine and tramadol are not for children under 12, and not while breastfeeding.',
    },
    {
      type: 'warning',
      content:
        'Overdose of a strong painkiller: very small (pin-point) pupils, cannot be woken, slow breathing or none. Get emergency help. Use naloxone if there is any. Someone who breathes but does not wake: lay them on their side, tilt the head back (recovery position) and stay with them.',
    },
    {
      type: 'section',
      title: 'Steroids',
      content:
        'Prednisolone and dexamethasone are not everyday painkillers, and not for gaining weight. Side effects grow with dose and time. After more than a few weeks of tablets never stop suddenly: a health worker must reduce them step by step.',
    },
    {
      type: 'section',
      title: 'Injections from shops',
      content:
        'Do not buy an injection for pain, fever or strength in a shop. Many medicines that are injected can be swallowed instead. A used needle or syringe can give you hepatitis or HIV. If a health worker says that you need an injection, ask to see a new, sealed syringe opened.',
    },
    {
      type: 'section',
      title: 'See a health worker',
      content: 'If pain lasts more than a few days or comes back, or if you need tablets every day.',
    },
    {
      type: 'warning',
      content:
        'Get help now for: chest pain; a sudden, worst-ever headache; headache with fever, stiff neck or confusion; weakness or numbness on one side; a hard, painful belly; pain after an injury or in pregnancy.',
    },
  ],
  sources: [
    'NHS-PARA',
    'NHSW-PARA',
    'PARA-OD',
    'NHS-IBU',
    'NHS-IBU-W',
    'NHS-CHILD',
    'NHS-PARA-C',
    'NHS-REYE',
    'EMA-META',
    'EMA-META-PREG',
    'WHO-OPI',
    'UNODC-WHO',
    'NHS-RECOVERY',
    'FDA-COD',
    'NHS-STER',
    'WHO-INJ',
    'SOMED',
  ],
};
