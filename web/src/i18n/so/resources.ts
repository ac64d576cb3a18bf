export const text = {
  title: 'Agabka waxbarashada',
  description:
    'Hageyaal iyo boodhadh bilaash ah oo ku saabsan isticmaalka badbaado leh ee daawada: akhri, daabac, la wadaag.',
  loading: 'Agabka waa la soo rarayaa...',
  noscript:
    'Liiskan wuxuu u baahan yahay barnaamij. La’aantiis waxaa jira liis fudud, hageyaashana halkan ayaad ku akhrin kartaa.',
  plainList: 'Fur liiska fudud',
  instead: 'Hageyaashii isla kuwii ayaad halkan ku akhrin kartaa liiska la’aantiis:',
  noscriptLink: 'Akhri hageyaasha',
  featured: 'Agab la soo xulay',
  list: 'Hageyaal iyo faylal',
  filters: {
    title: 'Soo koob liiska',
    topic: 'Mawduuca',
    language: 'Luqadda',
    type: 'Nooca faylka',
    all: 'Dhammaan',
    shown: 'La muujiyay: {count}',
  },
  empty: 'Weli ma jiraan wax la soo dejiyo. Hageyaasha bogaggan ayaad ku akhrin kartaa.',
  kept: 'Internet kuma xirna: kani waa liiskii booqashadaadii ugu dambaysay.',
  download: 'Soo deji',
  downloads: '{count} jeer la soo dejiyay',
  reviewed: 'Waxaa dib u eegay {name}, {day}',
  notReviewed: 'Farmashiiste weli dib uma eegin.',
  fileSize: 'Cabbirka faylka',
  fileType: 'Nooca faylka',
  toasts: {
    loadFailed: {
      title: 'Khalad soo rarid',
      description: 'Agabka lama soo rari karin. Fadlan dib u cusboonaysii bogga.',
    },
    trackFailed: {
      title: 'Khalad soo dejin',
      description: 'Soo dejinta lama diiwaangelin karin, laakiin agabka weli waad heli kartaa.',
    },
    started: { title: 'Soo dejintu way bilaabatay', description: '{title} hadda waa la soo dejinayaa.' },
    comingSoon: { title: 'Dhawaan imanaya', description: '{title} dhawaan ayaa la soo dejin karaa.' },
  },
  closing: {
    title: 'La wadaag aqoonta, badbaadi nolosha',
    text: 'Hage u daabac xaruntaada caafimaadka, masaajidka ama iskuulka, ama boggan u dir qof u baahan.',
  },
};
