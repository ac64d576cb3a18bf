import type { Source } from './sources';
import { ukSourceEntries } from './uk-source-entries';

export const sourceEntries = {
  ...ukSourceEntries,
  AAD: {
    published: '2022',
    name: 'American Academy of Dermatology: sun protection (2022)',
    url: 'https://www.aad.org/news/latest-in-sun-protection',
  },
  'AAP-FDA': {
    name: 'AAP News: the FDA on NSAIDs in pregnancy',
    url: 'https://publications.aap.org/aapnews/news/9205',
  },
  AJ: {
    published: '2015',
    name: 'Al Jazeera (2015, copy): medicine in Mogadishu',
    url: 'https://www.truhealthonline.com/somalia-counterfeit-medicine-endangering-somali-lives/',
  },
  ASHP: {
    published: '2021',
    name: 'ASHP: How to read an over-the-counter medication label',
    url: 'https://www.safemedication.com/pharmacist-insights/2021/how-to-read-an-over-the-counter-medication-label',
  },
  'CDC-1': { name: 'CDC: Be Antibiotics Aware', url: 'https://www.cdc.gov/antibiotic-use/' },
  'CDC-TB': {
    name: 'CDC: TB medicines, adverse events',
    url: 'https://www.cdc.gov/tb/topic/treatment/adverseevents.htm',
  },
  'CDC-PREG': {
    name: 'CDC: Treating for Two, medicines and pregnancy',
    url: 'https://www.cdc.gov/pregnancy/meds/treatingfortwo/facts.html',
  },
  CDPH: {
    name: 'California Department of Public Health: medication and birth defects',
    url: 'https://www.cdph.ca.gov/PROGRAMS/CBDMP/Pages/Medication.aspx',
  },
  'CMN-SO': {
    name: 'Children’s Minnesota: antibiotics, how they work (in Somali)',
    url: 'https://www.childrensmn.org/educationmaterials/childrensmn/article/21956/antibiotics-how-they-work-somali/',
  },
  'EMA-META': {
    published: '2024-09-20',
    name: 'EMA (2024): metamizole, agranulocytosis',
    url: 'https://www.ema.europa.eu/en/medicines/human/referrals/metamizole-containing-medicinal-products-0',
  },
  'EMA-META-PREG': {
    published: '2018-12-14',
    name: 'EMA (2018): metamizole, doses, pregnancy and breastfeeding',
    url: 'https://www.ema.europa.eu/en/medicines/human/referrals/metamizole-containing-medicinal-products',
  },
  EWC: { name: 'Every Woman California: medications', url: 'https://everywomancalifornia.org/medications' },
  'FDA-COD': {
    published: '2017-04-20',
    name: 'FDA (2017): codeine and tramadol, children and breastfeeding',
    url: 'https://www.fda.gov/Drugs/DrugSafety/ucm549679.htm',
  },
  'FDA-DISP': {
    name: 'FDA: dispose of medicine in the trash',
    url: 'https://www.fda.gov/drugs/disposal-unused-medicines-what-you-should-know/drug-disposal-dispose-non-flush-list-medicine-trash',
  },
  'FDA-EXP': {
    name: 'FDA: Expiration dates matter',
    url: 'https://www.fda.gov/Drugs/NewsEvents/ucm335808.htm',
  },
  'FDA-HG': {
    published: '2012',
    name: 'FDA (2012): mercury in skin products',
    url: 'https://www.fda.gov/ForConsumers/ConsumerUpdates/ucm294849.htm',
  },
  'FDA-HQ': {
    published: '2022-04-19',
    name: 'FDA (2022): skin products with hydroquinone',
    url: 'https://www.empr.com/home/news/safety-alerts-and-recalls/warning-letters-sent-to-companies-illegally-selling-otc-skin-lightening-products/',
  },
  'FDA-NSAID': {
    published: '2020',
    name: 'FDA (2020): avoid NSAIDs from 20 weeks of pregnancy',
    url: 'https://www.fda.gov/drugs/drug-safety-and-availability/fda-recommends-avoiding-use-nsaids-pregnancy-20-weeks-or-later-because-they-can-result-low-amniotic',
  },
  GLOWM: {
    name: 'GLOWM: danger signs in pregnancy',
    url: 'https://www.glowm.com/welfare-of-women/title/danger-signs-in-pregnancy/id/163',
  },
  'HC-BLUE': {
    published: '2020-03-10',
    name: 'Health Canada (2020): skin products with tretinoin',
    url: 'https://www.biospace.com/advisory-unauthorized-skin-lightening-products-seized-from-blue-sky-supermarket-products-may-pose-serious-health-risks',
  },
  'HC-HQ': {
    published: '2018-09-25',
    name: 'Health Canada (2018, RA-67812; 2020, RA-72037): hydroquinone',
    url: 'https://recalls-rappels.canada.ca/en/alert-recall/health-canada-reminds-canadians-consult-health-professional-using-high-concentration',
  },
  'HC-SKIN': {
    published: '2020-02-05',
    name: 'Health Canada (2020, RA-72289): skin-lightening products',
    url: 'https://canadiensensante.gc.ca/recall-alert-rappel-avis/hc-sc/2020/72289a-eng.php',
  },
  ISMP: {
    published: '2008-07-01',
    name: 'ISMP (2008): where do you keep your medicine?',
    url: 'https://www.consumermedsafety.org/medication-safety-articles/item/341-where-do-you-keep-your-medicine',
  },
  'ISMP-LABEL': {
    name: 'ISMP: reading the “Drug Facts” label',
    url: 'https://www.consumermedsafety.org/over-the-counter-medicines/the-basics/learn-to-read-the-drug-facts-label-on-otc-medicines-2',
  },
  MDH: {
    published: '2019-04-23',
    name: 'Minnesota Department of Health (2019, in the news): mercury in skin products',
    url: 'https://www.mprnews.org/story/2019/04/23/skin-lightening-fish-mercury-risk-minnesota-health-warning',
  },
  MEDICURE: { name: 'Medicure: drug disposal', url: 'https://www.medicurerx.com/drug-disposal' },
  MINAMATA: {
    name: 'Minamata Convention: mercury in cosmetics',
    url: 'https://minamataconvention.org/en/topics/mercury-cosmetics/insights',
  },
  MNMED: {
    published: '2013',
    name: 'Adawe & Oberg, Minnesota Medicine 2013;96(7):48–49',
    url: 'https://www.minnesotamedicine.com/clinical-health-affairs/skin-lightening-practices/',
  },
  AAMIN: {
    published: '2023-09-06',
    name: 'The New Humanitarian (2023): Aamin Ambulance',
    url: 'https://www.thenewhumanitarian.org/news-feature/2023/09/06/somalia-free-ambulance-service-saves-lives-operates-shoestring',
  },
  'ONTARIO-811': {
    published: '2022',
    name: 'Ontario (2022, copy): call 811 for a nurse',
    url: 'https://www.sdgcounties.ca/discover-our-communities/news-notices/new-tool-will-allow-ontarians-call-or-chat-online-rn',
  },
  'ONTARIO-911': {
    published: '2018-05-17',
    name: 'Settlement.Org, Ontario (2018): help in an emergency, 911',
    url: 'https://settlement.org/ontario/legal-services/police/emergency-services/how-can-i-get-help-in-an-emergency/',
  },
  OPC: {
    name: 'Ontario Poison Centre: Get Help Now',
    url: 'https://www.ontariopoisoncentre.ca/get-help/get-help-now-landing/get-help-now/',
  },
  OWH: {
    name: 'MedlinePlus, US Office on Women’s Health: pregnancy and medicines',
    url: 'https://medlineplus.gov/pregnancyandmedicines.html',
  },
  SOMED: { name: 'SomaliMed: paracetamol (in Somali)', url: 'https://somalimed.dk/' },
  'UNODC-WHO': {
    name: 'UNODC and WHO: opioid overdose',
    url: 'https://syntheticdrugs.unodc.org/syntheticdrugs/en/treatment/opioidoverdose/index.html',
  },
  'WHO-ABX': {
    published: '2020-07-31',
    name: 'WHO (2020): Antibiotic resistance',
    url: 'https://www.who.int/news-room/fact-sheets/detail/antibiotic-resistance',
  },
  'WHO-AMR': {
    published: '2023-11-21',
    name: 'WHO: Antimicrobial resistance (2023)',
    url: 'https://www.who.int/news-room/fact-sheets/detail/antimicrobial-resistance',
  },
  'WHO-HG': {
    published: '2019',
    name: 'WHO (2011, 2019): Mercury in skin lightening products',
    url: 'https://www.who.int/initiatives/elimination-of-mercury-containing-skin-lightening-products',
  },
  'WHO-INJ': {
    published: '2015-02-23',
    name: 'WHO (2015): unsafe and needless injections',
    url: 'https://www.who.int/news/item/23-02-2015-who-calls-for-worldwide-use-of-smart-syringes',
  },
  'WHO-OPI': {
    published: '2023-08-29',
    name: 'WHO: Opioid overdose (2023)',
    url: 'https://www.who.int/news-room/fact-sheets/detail/opioid-overdose',
  },
  'WHO-PARA': {
    published: '2025-09-24',
    name: 'WHO (24 September 2025): autism and paracetamol in pregnancy (extract)',
    url: 'https://www.hifa.org/dgroups-rss/what-should-pregnant-women-know-about-autism-and-paracetamol-use-during-pregnancy-3-who',
  },
  'WHO-TB': {
    name: 'WHO: Tuberculosis',
    url: 'https://www.who.int/news-room/fact-sheets/detail/tuberculosis',
  },
  'WHO-SF': {
    name: 'WHO: Substandard and falsified medical products',
    url: 'https://www.who.int/news-room/fact-sheets/detail/substandard-and-falsified-medical-products',
  },
} satisfies Record<string, Source>;
