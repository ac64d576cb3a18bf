export const text = {
  back: 'Ku noqo Baro',
  notFound: {
    title: 'Hagaha lama helin',
    content: 'Hagaha aad raadinayso ma jiro.',
  },
  warning: 'Digniin',
  danger: {
    title: 'Astaamaha khatarta: hadda raadi gargaar degdeg ah',
    signs: {
      swelling: 'Barar ku yimaada bushimaha, afka, carrabka ama dhuunta',
      breathing: 'Neefta oo ku dhegta, xiiq, neef aad u degdeg badan, ama in wax la liqi waayo',
      colour:
        'Bushimo, carrab ama maqaar buluug, dambasi ama midab beelay ah (maqaarka madow: eeg calaacalaha iyo cagaha hoostooda)',
      drowsy: 'Wareer lama filaan ah, hurdo badan ama dawakh; miyir beel; qof aan la toosin karin; suuxdin',
      limp: 'Ilmo jilicsan ama aan ka jawaabin',
      slow: 'Neef aad u gaabis ah xanuun baabi’iye xooggan kaddib',
      skin: 'Maqaar nabarro biyo leh yeesha ama fiiqma, ama boogo afka ama indhaha',
      bleeding: 'Matag dhiig leh, saxaro madow, ama shuban daran ama dhiig leh',
      poison: 'Daawo badan ama sun la qaatay, xitaa haddii qofku fiican yahay',
    },
    action:
      'Xasaasiyad daran: qofka jiifi, ha u oggolaan inuu istaago ama socdo. Cidna ha ka matajin. Qof hurdaysan afka waxba ha ka siin. Soo qaad badeecadda, baakadkeeda iyo wixii haray.',
    somalia: 'Soomaaliya',
    somaliaHelp:
      'Hadda tag isbitaalka ama xarunta caafimaadka ee kuugu dhow. Muqdisho waxaad isku dayi kartaa Aamin Ambulance: 999.',
    toronto: 'Toronto, Kanada',
    torontoHelp:
      'Wac 911. Xarunta sunta (poison centre): 1-844-764-7669. Talada kalkaaliye, habeen iyo maalin: 811.',
    notAmbulance: 'WhatsApp-keennu ma aha ambalaas.',
  },
  minute: 'Hal daqiiqo gudaheed',
  now: 'Waxa hadda la sameeyo',
  readAloud: 'Kor u akhri|Jooji akhriska',
  next: 'Hagaha xiga',
  whatsapp: 'WhatsApp kula wadaag',
  share: 'La wadaag ama koobbi garee',
  copied: 'Waa la koobbi gareeyay',
  titles: {
    'how-to-read-labels': 'Sida loo akhriyo summadda daawada',
    'antibiotics-guide': 'Si badbaado leh u isticmaal antibiyootiga',
    'skin-cream-dangers': 'Khatarta kareemada maqaarka caddeeya',
    'pregnancy-medicine': 'Daawada xilliga uurka iyo naas nuujinta',
    'expired-medicines': 'Daawada dhacday iyo tan been abuurka ah',
    'pain-management': 'Xanuunka si badbaado leh u yaree',
  },
  listen: 'Dhegayso hagahan',
  printable: 'Hageyaal la daabaci karo oo la wadaagi karo',
  sources: 'Ilaha',
  read: 'la akhriyay',
  written: 'Daawo ayaa hagahan ka qoray ilahan, Noofeembar 2026.',
  notReviewed: 'Farmashiiste weli dib uma eegin.',
  nextReview: 'Dib u eegista xigta: Maayo 2027.',
  disclaimer:
    'Waa waxbarasho oo keliya. Ma beddelayo talada shaqaalaha caafimaadka, dhakhtarka ama farmashiistaha.',
};
