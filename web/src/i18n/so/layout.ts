export const text = {
  siteName: 'Daawo',
  skip: 'U bood nuxurka muhiimka ah',
  menu: 'Liiska',
  mainNavigation: 'Liiska bogagga',
  switchLanguage: 'English',
  nav: {
    home: 'Bogga Hore',
    learn: 'Baro',
    womensHealth: 'Caafimaadka Haweenka',
    report: 'Soo sheeg',
    resources: 'Agabka',
    about: 'Nagu saabsan',
    contact: 'Nala soo xiriir',
    privacy: 'Asturnaanta',
  },
  footer: {
    about:
      'Hay’ad aan faa’iido doon ahayn oo dadka bara isticmaalka badbaado leh ee daawada, Soomaaliya iyo Toronto, Kanada.',
    pages: 'Bogagga',
    terms: 'Shuruudaha isticmaalka',
    accessibility: 'Sahlanaanta isticmaalka',
    support: 'Caawimaad',
    whatsapp: 'Caawimaad WhatsApp',
    email: 'Caawimaad iimayl',
    disclaimerTitle: 'Afeef',
    disclaimer:
      'Boggan waa waxbarasho oo keliya; ma beddelayo talada dhakhtarka. Annagu isbitaal ma nihin. Xaaladda degdegga ah, isla markiiba raadi daryeel caafimaad.',
  },
  exit: 'Si degdeg ah uga bax boggan',
  exitHint: 'ama saddex jeer taabo Escape',
  exitSteps:
    'Laba jeer oo kale taabo Escape si aad uga baxdo.|Hal mar oo kale taabo Escape si aad uga baxdo.',
  incomplete: 'Qayb baa boggan ka maqan. Mar kale soo rar.',
  optional: 'ikhtiyaari',
  notifications: 'Ogeysiisyo',
  dismiss: 'Xir farriinta',
  opensInNewTab: 'Waxay ku furmaysaa bog cusub',
};
