import type { Guide } from '../../guides';

export const guide: Guide = {
  slug: 'how-to-read-labels',
  title: 'Sida loo akhriyo summadda daawada',
  description: 'Macnaha ereyada, taariikhaha iyo lambarrada ku qoran baakadka daawada.',
  icon: 'label',
  category: 'Safety',
  minute: [
    'Akhri summadda oo dhan ka hor qiyaasta ugu horreysa, mar kasta.',
    'Laba baakad oo magacyadoodu kala duwan yihiin waxaa ku jiri karta isla hal daawo.',
    'Daawada been abuurka ah ee si fiican loo sameeyay gebi ahaanba way u ekaan kartaa tan dhabta ah, markaa ka iibso meel aad aamini karto.',
  ],
  now: [
    'Baakad kasta oo guriga taalla ka raadi taariikhda dhicitaanka (EXP) iyo lambarka dufcadda (LOT).',
    'Ha isticmaalin badeecad haddii aadan summaddeeda akhriyi karin.',
    'Wax khalad ah ma kuu muuqdaan? Sawir ka qaad baakadka, kaddibna soo sheeg.',
  ],
  signs: ['swelling', 'breathing', 'drowsy', 'poison'],
  content: [
    {
      type: 'section',
      title: 'Akhri ka hor qiyaasta ugu horreysa',
      content:
        'Akhri summadda oo dhan (qoraalka ku yaalla baakadka) ka hor qiyaasta ugu horreysa, mar kasta. Daawadu way isbeddeli kartaa tan iyo markii aad hore u soo iibsatay. Ha isticmaalin haddii aadan summadda akhriyi karin, ama aan lagu qorin waxa ku jira.',
    },
    {
      type: 'section',
      title: 'Waxa aad raadinayso',
      content: 'Summad wanaagsan waxay kuu sheegaysaa waxyaabahan oo dhan. Mid kasta raadi:',
      figure: {
        name: 'label',
        caption:
          'Baakadku wuxuu kuu sheegayaa: 1 magaca, 2 maaddada firfircoon, 3 taariikhda dhicitaanka (EXP), 4 lambarka dufcadda (LOT).',
      },
    },
    {
      type: 'checklist',
      items: [
        'Magaca daawada iyo waxa loo qaato',
        'Maaddada firfircoon (qaybta shaqaysa) iyo inta ay le’eg tahay',
        'Tilmaamaha da’ kasta: inta la qaato, imisa jeer iyo muddada',
        'Digniinaha: cidda aan qaadan karin, waxa laga fogaado iyo goorta la joojiyo',
        'Talada uurka iyo naas nuujinta',
        'Sida loo kaydiyo',
        'Taariikhda dhicitaanka (EXP) iyo lambarka dufcadda (batch, LOT)',
        'Kanada: DIN oo ka kooban 8 lambar, ama NPN haddii ay tahay badeecad dabiici ah',
      ],
    },
    {
      type: 'section',
      title: 'Isbarbar dhig maaddooyinka, ma aha magacyada',
      content:
        'Laba baakad oo magacyadoodu kala duwan yihiin waxaa ku jiri karta isla hal daawo. Daawooyin badan oo hargabka loo qaato waxaa ku jira paracetamol (Kanada: acetaminophen ama Tylenol). Haddii laba ka mid ah la wada qaato, way fududdahay in la qaato wax ka badan inta la oggol yahay.',
    },
    {
      type: 'section',
      title: 'Si taxaddar leh u cabbir',
      content:
        'Weligaa ha ka badin inta tilmaamuhu sheegayaan. Daawada dareeraha ah ku cabbir qaaddada, koobka ama siriinjiga la socda, ha ku cabbirin qaaddada jikada.',
    },
    {
      type: 'section',
      title: 'Macnaha taariikhda',
      content:
        'EXP iyo bil iyo sannad badanaa macnaheedu waa: waad isticmaali kartaa ilaa maalinta ugu dambaysa ee bishaas. “Use by” ama “use before” iyo bil macnaheedu waa: jooji dhammaadka bishii ka horreysay.',
    },
    {
      type: 'section',
      title: 'Ma been abuur baa?',
      content:
        'Fiiri khaladaad higgaadeed, daabacaad xun, xir (seal) la jebiyay, midab, ur ama dhadhan aan caadi ahayn, ama qiime aad u jaban. Taariikhda iyo lambarka dufcadda ee baakadka iyo kuwa ku qoran xirmada kiniinka waa inay isku mid noqdaan. Laakiin daawada been abuurka ah ee si fiican loo sameeyay gebi ahaanba way u ekaan kartaa tan dhabta ah. Muuqaal caadi ah waxba ma caddeeyo, sidaas darteed ka iibso meel aad aamini karto.',
    },
    {
      type: 'warning',
      content:
        'Qiyaasta weligaa ha malayn. Kiniinno ha ku haysan bac aan summad lahayn. Ha isticmaalin daawo qof kale loo qoray. Ha jarin qaybta ay ku qoran yihiin lambarka dufcadda iyo taariikhda dhicitaanka.',
    },
    {
      type: 'section',
      title: 'Ka hor inta aadan ka bixin farmashiga',
      content:
        'Farmashiistaha u sheeg daawooyinka kale, fiitamiinnada iyo dhirta aad qaadato, xasaasiyaddaada, iyo haddii aad uur leedahay ama laga yaabo. Daawada ku hay baakadkeeda, iyada iyo warqadda ku jirta. Haddii wax khalad ah kuu muuqdaan, sawir ka qaad baakadka, qor lambarka dufcadda, kaddibna soo sheeg.',
    },
  ],
  sources: [
    'ASHP',
    'ISMP-LABEL',
    'NHSW-PARA',
    'NHS-PARA',
    'NHS-EXP',
    'UKMI',
    'WHO-SF',
    'HC-SKIN',
    'FDA-HG',
    'ISMP',
  ],
};
