import type { Guide } from '../../guides';

export const guide: Guide = {
  slug: 'pregnancy-medicine',
  title: 'Medicine in Pregnancy and Breastfeeding',
  description: 'Medicine can reach your baby. Ask before you start or stop one.',
  icon: 'mother',
  category: "Women's Health",
  minute: [
    'Medicine can reach your baby. Ask before you start one, and before you stop one.',
    'Paracetamol in the recommended amount is the usual painkiller.',
    'From 20 weeks avoid ibuprofen and similar painkillers, unless a health professional tells you to use them.',
  ],
  now: [
    'Tell every health worker that you are or may be pregnant, or that you breastfeed.',
    'Write down everything you take, also herbs and vitamins, and show the list.',
    'Do not stop a medicine that you need on your own.',
  ],
  signs: ['swelling', 'breathing', 'drowsy', 'limp', 'poison'],
  content: [
    {
      type: 'section',
      title: 'Tell every health worker',
      content:
        'Say that you are, may be or want to become pregnant, or that you breastfeed. Name everything you take, also herbs, vitamins and medicine bought without a prescription.',
    },
    {
      type: 'section',
      title: 'Do not start or stop alone',
      content:
        'Some medicines can cause birth defects, the loss of the baby, an early birth or a disability. But stopping a medicine you need can do more harm: for asthma, diabetes, epilepsy, HIV, TB or high blood pressure, for example. Ask first.',
    },
    {
      type: 'section',
      title: 'Pain and fever',
      content:
        'Paracetamol (acetaminophen, Tylenol) in the recommended amount is the usual painkiller in pregnancy and breastfeeding. In 2025 WHO found no conclusive evidence that it is linked with autism. Still, use any medicine with care and on advice.',
    },
    {
      type: 'section',
      title: 'Ibuprofen and similar painkillers',
      content:
        'From 20 weeks of pregnancy avoid ibuprofen, naproxen, diclofenac and aspirin for pain, unless a health professional tells you to use them. They can harm the baby’s kidneys, leave too little water around the baby and, later, harm its heart. Ask before you use them earlier too. Low-dose aspirin that was prescribed for your pregnancy is different: follow your prescriber’s advice.',
      figure: {
        name: 'weeks',
        caption: 'Ibuprofen and similar painkillers: avoid them from week 20 until the birth.',
      },
    },
    {
      type: 'section',
      title: 'Ask before you become pregnant',
      content:
        'These can harm an unborn baby. Never stop an epilepsy or heart medicine on your own. Ask if you take:',
    },
    {
      type: 'checklist',
      items: [
        'Isotretinoin or a similar acne medicine',
        'Valproate or another epilepsy medicine',
        'Warfarin, methotrexate, lithium or thalidomide',
        'Blood pressure medicines called ACE inhibitors or ARBs',
        'Tetracyclines, streptomycin or kanamycin (antibiotics)',
        'High-dose vitamin A',
      ],
    },
    {
      type: 'section',
      title: 'While you breastfeed',
      content:
        'Most medicines are possible. Paracetamol and most antibiotics are usually fine. Not advised: aspirin for pain, decongestants that you swallow, and herbal remedies. Ask about ibuprofen and all others. Say if your baby was born early or had jaundice.',
    },
    {
      type: 'warning',
      content:
        'Codeine and tramadol are not advised while you breastfeed. The baby may become very sleepy, feed badly, breathe slowly and even die.',
    },
    {
      type: 'section',
      title: 'Good for you and your baby',
      content:
        'Folic acid before and early in pregnancy prevents some defects of the brain and spine. Use vitamins made for pregnancy, as advised. Use no lightening creams: mercury can reach the baby, hydroquinone is not recommended, and tretinoin is linked with birth defects.',
    },
    {
      type: 'warning',
      content:
        'Go to a health facility now for: bleeding or leaking fluid from the vagina; a bad or lasting headache; blurred sight; fits or fainting; swelling of the face or hands; fever above 38 °C; bad belly pain; short breath or chest pain; a baby that moves less or not at all; thoughts of harming yourself.',
    },
  ],
  sources: [
    'CDC-PREG',
    'OWH',
    'FDA-NSAID',
    'AAP-FDA',
    'MHRA-NSAID',
    'NHSW-PARA',
    'WHO-PARA',
    'CDPH',
    'FDA-COD',
    'NHSW-BF',
    'FDA-HG',
    'HC-HQ',
    'HC-BLUE',
    'GLOWM',
  ],
};
