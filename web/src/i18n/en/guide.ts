export const text = {
  back: 'Back to Learn',
  notFound: {
    title: 'Guide Not Found',
    content: "The guide you're looking for doesn't exist.",
  },
  warning: 'Warning',
  danger: {
    title: 'Danger signs: get emergency help now',
    signs: [
      'Swelling of the lips, mouth, tongue or throat',
      'Struggling to breathe, wheezing, very fast breathing, or trouble swallowing',
      'Blue, grey or pale lips, tongue or skin (on dark skin look at palms and soles)',
      'Suddenly confused, very sleepy or dizzy; fainting; cannot be woken; a fit',
      'A child who is limp or does not respond',
      'Very slow breathing after a strong painkiller',
      'Skin that blisters or peels, or sores in the mouth or eyes',
      'Vomiting blood, black stools, or severe or bloody diarrhoea',
      'Too much medicine or a poison taken, even if the person feels well',
    ],
    action:
      'In a bad allergic reaction lie the person down; do not let them stand or walk. Do not make anyone vomit. Give nothing by mouth to a drowsy person. Bring the product, its box and what is left.',
    somalia: 'Somalia',
    somaliaHelp:
      'Go to the nearest hospital or health centre now. In Mogadishu you can try Aamin Ambulance: 999.',
    toronto: 'Toronto, Canada',
    torontoHelp: 'Call 911. Poison centre: 1-844-764-7669. A nurse’s advice, day and night: 811.',
    notAmbulance: 'Our WhatsApp is not an ambulance.',
  },
  listen: 'Listen to this guide',
  printable: 'Guides to print and share',
  sources: 'Sources',
  written: 'Daawo wrote this guide from these sources in November 2026.',
  notReviewed: 'Not yet reviewed by a pharmacist.',
  nextReview: 'Next review: May 2027.',
  disclaimer: 'For education only. It does not replace the advice of a health worker, doctor or pharmacist.',
};
