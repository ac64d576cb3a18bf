import type { Guide } from '../../guides';

export const guide: Guide = {
  slug: 'pregnancy-medicine',
  title: 'Daawada xilliga uurka iyo naas nuujinta',
  description: 'Daawadu waxay gaari kartaa ilmahaaga. Weydii ka hor inta aadan bilaabin ama joojin.',
  icon: 'mother',
  category: "Women's Health",
  minute: [
    'Daawadu waxay gaari kartaa ilmahaaga. Weydii ka hor inta aadan bilaabin, iyo ka hor inta aadan joojin.',
    'Paracetamol oo lagu qaato inta lagu taliyay waa xanuun baabi’iyaha caadiga ah.',
    'Laga bilaabo toddobaadka 20aad ka fogow ibuprofen iyo xanuun baabi’iyeyaasha la midka ah, haddii uusan kuu sheegin xirfadle caafimaad.',
  ],
  now: [
    'Shaqaale kasta oo caafimaad u sheeg haddii aad uur leedahay ama laga yaabo, ama aad naas nuujinayso.',
    'Qor wax kasta oo aad qaadato, xitaa dhirta iyo fiitamiinnada, liiskana tus.',
    'Keligaa ha joojin daawo aad u baahan tahay.',
  ],
  signs: ['swelling', 'breathing', 'drowsy', 'limp', 'poison'],
  content: [
    {
      type: 'section',
      title: 'U sheeg shaqaale kasta oo caafimaad',
      content:
        'Sheeg haddii aad uur leedahay, laga yaabo, aad rabto, ama aad naas nuujinayso. Sheeg wax kasta oo aad qaadato, xitaa dhirta, fiitamiinnada iyo daawada warqad la’aan lagu soo iibsaday.',
    },
    {
      type: 'section',
      title: 'Keligaa ha bilaabin, hana joojin',
      content:
        'Daawooyinka qaarkood waxay keeni karaan cillad ilmaha ku dhalato, dhimashada ilmaha, dhalmo xilligeeda ka horreysa ama naafonimo. Laakiin joojinta daawo aad u baahan tahay ayaa ka sii dari karta: sida tan neefta (asthma), sonkorowga (diabetes), suuxdinta (epilepsy), HIV, qaaxada (TB) ama dhiig-karka. Marka hore weydii.',
    },
    {
      type: 'section',
      title: 'Xanuun iyo qandho',
      content:
        'Paracetamol (acetaminophen, Tylenol) oo lagu qaato inta lagu taliyay waa xanuun baabi’iyaha caadiga ah ee uurka iyo naas nuujinta. Sannadkii 2025 WHO waxay sheegtay inaan la hayn caddayn dhab ah oo ah inuu la xiriiro otisam (autism). Weli, daawo kasta si taxaddar leh oo talo leh u isticmaal.',
    },
    {
      type: 'section',
      title: 'Ibuprofen iyo xanuun baabi’iyeyaasha la midka ah',
      content:
        'Laga bilaabo toddobaadka 20aad ee uurka, ka fogow ibuprofen, naproxen, diclofenac iyo aspirin xanuun loo qaato, haddii uusan kuu sheegin xirfadle caafimaad. Waxay waxyeellayn karaan kelyaha ilmaha, waxay yarayn karaan biyaha ku wareegsan, mar dambena wadnihiisa ayay wax u dhimi karaan. Xitaa ka hor, weydii inta aadan isticmaalin. Aspirin qiyaas yar oo uurka laguugu qoray waa wax kale: raac talada ciddii kuu qortay.',
      figure: {
        name: 'weeks',
        caption:
          'Ibuprofen iyo xanuun baabi’iyeyaasha la midka ah: ka fogow laga bilaabo toddobaadka 20aad ilaa dhalmada.',
      },
    },
    {
      type: 'section',
      title: 'Weydii ka hor inta aadan uur yeelan',
      content:
        'Kuwan waxay waxyeellayn karaan ilmaha uurka ku jira. Keligaa weligaa ha joojin daawada suuxdinta ama tan wadnaha. Weydii haddii aad qaadato:',
    },
    {
      type: 'checklist',
      items: [
        'Isotretinoin ama daawo finanka la mid ah',
        'Valproate ama daawo kale oo suuxdinta',
        'Warfarin, methotrexate, lithium ama thalidomide',
        'Daawooyinka dhiig-karka ee la yiraahdo ACE inhibitors ama ARBs',
        'Tetracyclines, streptomycin ama kanamycin (antibiyootig)',
        'Fiitamiin A oo qiyaas badan (vitamin A)',
      ],
    },
    {
      type: 'section',
      title: 'Inta aad naas nuujinayso',
      content:
        'Daawooyinka badankood waa la qaadan karaa. Paracetamol iyo antibiyootiga badankiisu badanaa dhib ma laha. Laguma taliyo: aspirin xanuun loo qaato, daawada sanka furta ee la liqo, iyo daawo dhireedka. Weydii ibuprofen iyo wixii kale oo dhan. Sheeg haddii ilmahaagu xilligiisa ka hor dhashay ama uu cagaarshow lahaa (jaundice).',
    },
    {
      type: 'warning',
      content:
        'Codeine iyo tramadol laguma taliyo inta aad naas nuujinayso. Ilmuhu aad buu u hurdoon karaa, si xun buu u nuugi karaa, neeftu way ku gaabin kartaa, xitaa wuu dhiman karaa.',
    },
    {
      type: 'section',
      title: 'Waxa adiga iyo ilmahaaga u fiican',
      content:
        'Folic acid oo la qaato ka hor uurka iyo bilowgiisa waxay ka hortagtaa cilladaha qaarkood ee maskaxda iyo lafdhabarta. Isticmaal fiitamiinno uurka loogu talagalay, sida laguugu taliyay. Ha isticmaalin kareemada maqaarka caddeeya: meerkuri (mercury) wuxuu gaari karaa ilmaha, hydroquinone laguma taliyo, tretinoin-na waxaa lala xiriiriyaa cillado ilmaha ku dhalato.',
    },
    {
      type: 'warning',
      content:
        'Hadda tag xarun caafimaad haddii aad la kulanto: dhiig ama dareere ka yimaado xubinta taranka; madax-xanuun daran ama aan dhammaanayn; aragga oo ceeryaamo noqda; suuxdin ama miyir beel; wajiga ama gacmaha oo barara; qandho ka badan 38 °C; calool xanuun daran; neefta oo ku dhegta ama laab xanuun; ilmaha oo dhaqdhaqaaqiisu yaraado ama istaago; fikrado ah inaad naftaada wax yeesho.',
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
