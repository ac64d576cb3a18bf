export const text = {
  title: 'Baro',
  description:
    'Lix hage oo gaagaaban oo hadal fudud ku qoran: summadda, antibiyootiga, kareemada maqaarka caddeeya, uurka, daawada dhacday iyo xanuunka.',
  heading: 'Baro sida daawada si badbaado leh loo isticmaalo',
  lead: 'Lix hage oo gaagaaban oo hadal fudud ku qoran. Akhri, daabac, la wadaag.',
  guidesTitle: 'Hageyaasha',
  categories: {
    Safety: 'Badbaado',
    Medicine: 'Daawo',
    "Women's Health": 'Caafimaadka Haweenka',
  },
  risksTitle: 'Khataraha caafimaad ee ugu muhiimsan',
  risks: {
    antibiotics: {
      title: 'Antibiyootiga',
      content:
        'Ma daaweeyo fayraska. Isticmaalka khaldan wuxuu keenaa waxyeello, jeermiskana wuxuu baraa inuu daawada iska caabbiyo.',
    },
    painkillers: {
      title: 'Xanuun baabi’iyeyaasha iyo isteroydhka',
      content:
        'Paracetamol badan wuxuu waxyeelleeyaa beerka; ibuprofen iyo kuwa la midka ah waxay waxyeellayn karaan caloosha iyo kelyaha; kuwa xooggan (opioids) neefta ayay gaabiyaan. Isteroydh muddo dheer la qaatay si lama filaan ah looma joojin karo.',
    },
    creams: {
      title: 'Kareemada maqaarka caddeeya ee la isku daro',
      content:
        'Meerkuri (mercury), haydarokinoon (hydroquinone) iyo isteroydh (steroid) waxay waxyeellayn karaan kelyaha iyo dareemayaasha, maqaarkana weligiis.',
    },
    expired: {
      title: 'Wax dhacay ama been abuur ah',
      content: 'Waxaa laga yaabaa inaysan shaqayn, waxaana laga yaabaa inay qofka sumeeyaan.',
    },
    pregnancy: {
      title: 'Uurka ama naas nuujinta',
      content:
        'Daawada iyo kareemadu waxay gaari karaan ilmaha. Weydii ka hor inta aadan bilaabin ama joojin.',
    },
  },
  beautyTitle: 'Midabka maqaarkaagu horeba wuu u qurux badan yahay',
  beauty: 'Midab kasta oo maqaar oo dabiici ah waa caafimaad. Wuxuu u baahan yahay daryeel, ma aha caddeyn.',
  reminderTitle: 'Xusuusin muhiim ah',
  reminder:
    'Haddii badeecad falcelin xun kugu keento, isla markiiba raadi daryeel caafimaad. Hay badeecadda iyo baakadkeeda, sawirro ka qaad, qor waxa dhacay iyo goorta, kaddibna soo sheeg.',
  report: 'Soo sheeg badeecadda',
};
