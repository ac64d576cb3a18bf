export const text = {
  title: 'Caafimaadka Haweenka',
  description:
    'Waxa ay kareemada maqaarka caddeeya ku samayn karaan maqaarkaaga iyo ilmahaaga, iyo daryeel ka ammaan badan.',
  heading: 'Caafimaadkaaga, maqaarkaaga, go’aankaaga',
  lead: 'Badeecado badan oo haweenka laga iibiyo waxay ballan qaadaan maqaar cad, mana sheegaan waxa ku jira. Waa kan waxa ay tahay inaad ogaato, ceeb la’aan.',
  statistics: {
    unsafe: {
      name: 'Badeecado aan ammaan ahayn',
      counts: 'Badeecadaha maqaarka caddeeya ee aan naqaan, inta aan u aragno inaysan ammaan ahayn.',
    },
    risks: {
      name: 'Khataro caafimaad',
      counts: 'Dadka isticmaala, inta aan u aragno in caafimaadkoodu khatar ku jiro.',
    },
    prevention: {
      name: 'Heerka ka hortagga',
      counts: 'Waxyeellada, inta aan u malaynayno in laga hortagi karo.',
    },
  },
  figures:
    'Saddexdan tiro waa tirooyinka hay’addeenna, ma aha kuwo daraasad laga helay. Cid dibadda ah ma hubin.',
  study:
    'Daraasad lala sameeyay haween Soomaaliyeed oo ku nool Minneapolis–St Paul, 27 badeecadood oo la baaray 11 ka mid ah ayuu meerkuri ku jiray (Minnesota Medicine, 2013).',
  risksTitle: 'Khataraha caafimaad ee ugu muhiimsan',
  severity: { high: 'Halis sare', medium: 'Halis dhexdhexaad ah' },
  risks: {
    mercury: {
      title: 'Meerkuri (mercury)',
      content:
        'Wuxuu waxyeelleeyaa kelyaha iyo dareemayaasha. Wuxuu sumayn karaa dhallaanka iyo dadka kale ee guriga jooga ee aan kareemka weligood isticmaalin.',
    },
    steroids: {
      title: 'Isteroydh (steroid) xooggan',
      content:
        'Maqaarka wuxuu ka dhigaa khafiif iyo mid tabar yar, hoormoonnadana wax buu u dhimi karaa. Shaqaale caafimaad weydii sida loo joojiyo.',
    },
    hydroquinone: {
      title: 'Haydarokinoon (hydroquinone)',
      content:
        'Wuxuu keeni karaa finan, waji barara iyo baro buluug-madow ah oo laga yaabo inaysan weligood tegin.',
    },
  },
  familyTitle: 'Uurka iyo naas nuujinta',
  family: {
    pregnancy: {
      title: 'Xilliga uurka',
      items: [
        'Daawooyinka iyo kareemadu waxay gaari karaan ilmaha. Weydii ka hor inta aadan bilaabin, iyo ka hor inta aadan joojin.',
        'Laga bilaabo toddobaadka 20aad ka fogow ibuprofen iyo xanuun baabi’iyeyaasha la midka ah, haddii uusan kuu sheegin xirfadle caafimaad.',
        'Ha isticmaalin kareemada maqaarka caddeeya: meerkuri (mercury) wuxuu gaari karaa ilmaha.',
      ],
    },
    breastfeeding: {
      title: 'Inta aad naas nuujinayso',
      items: [
        'Daawooyinka badankood waa la qaadan karaa. Paracetamol iyo antibiyootiga badankiisu badanaa dhib ma laha.',
        'Codeine iyo tramadol laguma taliyo: ilmaha neeftu way ku gaabin kartaa, xitaa wuu dhiman karaa.',
        'Sheeg haddii ilmahaagu xilligiisa ka hor dhashay ama uu cagaarshow lahaa (jaundice).',
      ],
    },
  },
  helpTitle: 'Meesha caawimaad laga helo',
  alternativesTitle: 'Beddelaad ammaan ah',
  alternatives: {
    sunscreen: {
      title: 'Maalin kasta kareemka qorraxda ka ilaaliya (sunscreen)',
      content: 'SPF 30 ama ka badan, “broad spectrum”. Dibadda 2dii saacadoodba mar dib isu mari.',
    },
    moisturizers: {
      title: 'Kareem fudud oo maqaarka qoyaanka u haya',
      content: 'Caadi ah oo aan udgoon lahayn. Maqaarkaagu wax kale uma baahna.',
    },
    consultation: {
      title: 'La tashi khabiir caafimaad',
      content: 'Baraha madow ama finanka, dhakhtar ama farmashiiste weydii ka hor inta aadan wax iibsan.',
    },
  },
  beautyTitle: 'Ku faan quruxdaada dabiiciga ah',
  beauty:
    'Midab kasta oo maqaar oo dabiici ah waa caafimaad. Melanin-ta maqaarkaaga madow ka dhigta ayaa qorraxda kaa ilaalisa. Cidna uma baahna inay caddaato si ay u qurux badnaato.',
  communityTitle: 'Ku biir bulshadeenna',
  community: 'La sheekayso haween kale, su’aalo weydii, oo maqal digniinaha cusub.',
  whatsapp: 'Ku biir kooxda WhatsApp',
  facebook: 'Nagala soco Facebook',
  download: 'Soo deji hagaha badbaadada haweenka',
  downloadAlert: 'Hagaha badbaadada dhawaan ayaa la soo dejin karaa',
  readCreams: 'Khatarta kareemada maqaarka caddeeya',
  readPregnancy: 'Daawada xilliga uurka iyo naas nuujinta',
  readTitle: 'Wax badan ka akhri hageyaasheenna',
};
