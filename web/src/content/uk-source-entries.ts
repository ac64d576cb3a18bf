import type { Source } from './sources';

/** The sources of the United Kingdom. */
export const ukSourceEntries = {
  'MHRA-NSAID': {
    published: '2023-06-27',
    name: 'MHRA (UK, 2023): NSAIDs after 20 weeks of pregnancy',
    url: 'https://www.gov.uk/drug-safety-update/non-steroidal-anti-inflammatory-drugs-nsaids-potential-risks-following-prolonged-use-after-20-weeks-of-pregnancy',
  },
  'MHRA-TSW': {
    name: 'MHRA (UK): topical steroids, withdrawal reactions',
    url: 'https://www.gov.uk/drug-safety-update/topical-steroids-introduction-of-new-labelling-and-a-reminder-of-the-possibility-of-severe-side-effects-including-topical-steroid-withdrawal-reactions',
  },
  'NHS-ANA': { name: 'NHS: Anaphylaxis', url: 'https://www.nhs.uk/conditions/anaphylaxis/' },
  'NHS-ALLERGY': {
    name: 'NHS: Antibiotics, side effects',
    url: 'https://www.nhs.uk/Conditions/Antibiotics-penicillins/Pages/Side-effects.aspx',
  },
  'NHS-CHILD': {
    name: 'NHS: Medicines for babies and children',
    url: 'https://www.nhs.uk/conditions/baby/health/medicines-for-babies-and-children/',
  },
  'NHS-EXP': {
    name: 'NHS: expiry dates of medicine (copy)',
    url: 'https://healthypharmacies.org/index-116.html',
  },
  'NHS-IBU': {
    name: 'NHS: How and when to take ibuprofen',
    url: 'https://www.nhs.uk/medicines/ibuprofen-for-adults/how-and-when-to-take-ibuprofen',
  },
  'NHS-IBU-W': {
    name: 'NHS: who cannot take ibuprofen (as quoted)',
    url: 'https://britbrief.co.uk/health/nhs/8-groups-who-should-avoid-ibuprofennhs-list.html',
  },
  'NHS-MISSED': {
    name: 'NHS: Antibiotics, missed or extra doses',
    url: 'https://www.nhs.uk/Conditions/Antibiotics-penicillins/Pages/Missed-or-extra-doses.aspx',
  },
  'NHS-PARA-C': {
    name: 'NHS: Paracetamol for children',
    url: 'https://www.nhs.uk/medicines/paracetamol-for-children/',
  },
  'NHS-RECOVERY': {
    name: 'NHS: Recovery position',
    url: 'https://www.nhs.uk/conditions/first-aid/recovery-position/',
  },
  'NHS-PARA': {
    name: 'NHS: How and when to take paracetamol',
    url: 'https://www.nhs.uk/medicines/paracetamol-for-adults/how-and-when-to-take-paracetamol-for-adults/',
  },
  'NHS-REYE': {
    published: '2012-10-30',
    name: 'NHS (2012): Reye’s syndrome, prevention',
    url: 'https://www.nhs.uk/Conditions/Reyes-syndrome/Pages/Prevention.aspx',
  },
  'NHS-STER': { name: 'NHS: Steroid tablets', url: 'https://www.nhs.uk/conditions/steroid-tablets/' },
  'NHSW-BF': {
    name: 'NHS Wales: Breastfeeding and medicines',
    url: 'https://111.wales.nhs.uk/livewell/pregnancy/Breastfeedingmedicines/',
  },
  'NHSW-PARA': {
    name: 'NHS Wales: Paracetamol for adults',
    url: 'https://111.wales.nhs.uk/encyclopaedia/p/article/paracetamolforadults',
  },
  'PARA-OD': {
    name: 'Electronic medicines compendium (UK): paracetamol, overdose',
    url: 'https://www.medicines.org.uk/emc/product/100693/smpc',
  },
  SOUTHWARK: {
    name: 'Southwark Council; British Skin Foundation: illegal skin lighteners',
    url: 'https://www.southwark.gov.uk/business/trading-standards-and-food-safety/illegal-skin-lighteners',
  },
  UKMI: {
    published: '2011',
    name: 'UK Medicines Information: Q&A 213.2 (2011)',
    url: 'https://studylib.net/doc/7503046',
  },
} satisfies Record<string, Source>;
