export const text = {
  title: 'Badbaadada daawada ee bulshada Soomaaliyeed',
  description:
    'Baro sida daawada si badbaado leh loo isticmaalo, soona sheeg badeecad waxyeello leh ama been abuur ah, af-Soomaali iyo Ingiriisi. Waxaa loogu talagalay haweenka, dhallinyarada iyo qoysaska Soomaaliyeed ee Soomaaliya iyo Toronto.',
  heading: 'Daawadu way ku caawisaa marka si badbaado leh loo isticmaalo',
  lead: 'Baro khatarta antibiyootiga, xanuun baabi’iyeyaasha iyo isteroydhka si khaldan loo isticmaalo, kareemada maqaarka caddeeya ee la isku daro, iyo daawada dhacday ama been abuurka ah. Haddii badeecad ku walaaciso, noo sheeg.',
  learnRisks: 'Baro khataraha',
  reportProduct: 'Soo sheeg badeecad',
  tipsTitle: 'Saddex talo oo qoyskaaga ilaalinaya',
  tips: {
    mixing: {
      title: 'Jooji isku darka kareemada',
      content:
        'Kareemada la isku daro waxaa ku qarsoonaan kara meerkuri (mercury), haydarokinoon (hydroquinone) ama isteroydh (steroid) xooggan.',
    },
    expiry: {
      title: 'Hubi taariikhda dhicitaanka',
      content: 'Taariikhda kaddib cidna ma ballan qaadi karto in daawadu ammaan tahay ama shaqaynayso.',
    },
    sources: {
      title: 'Ka iibso meelo la aamini karo',
      content:
        'Daawada been abuurka ah ee si fiican loo sameeyay gebi ahaanba way u ekaan kartaa tan dhabta ah.',
    },
  },
  about: {
    title: 'Cidda aan nahay',
    content:
      'Daawo waa hay’ad aan faa’iido doon ahayn oo la shaqaysa bulshada Soomaaliyeed ee Soomaaliya iyo Toronto, Kanada. Waxba ma iibinno. Isha waxa aan qorno waan sheegnaa.',
    link: 'Wax badan oo nagu saabsan',
  },
  warning: {
    title: 'Digniin ka timid WHO',
    date: 'Digniintii 23 Janaayo 2023',
    content:
      'Sharoobada qufaca ee carruurta qaarkood waxaa laga helay sun (diethylene glycol). Sharoobo ka iibso meel aad aamini karto oo keliya. Haddii ilmo ku jirrado, isla markiiba raadi daryeel caafimaad, dhaladana hay.',
    all: 'Digniinaha WHO ee ugu dambeeyay',
  },
  quickTitle: 'Xaggee baad tagaysaa?',
  quick: {
    learn: { title: 'Baro', content: 'Lix hage oo gaagaaban oo hadal fudud ku qoran' },
    womensHealth: { title: 'Caafimaadka Haweenka', content: 'Maqaarka, uurka iyo naas nuujinta' },
    report: { title: 'Soo sheeg', content: 'Si sir ah noogu sheeg badeecad waxyeello leh' },
    contact: { title: 'Nala soo xiriir', content: 'WhatsApp, iimayl iyo Facebook' },
  },
};
