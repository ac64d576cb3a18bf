export const text = {
  title: 'Nala soo xiriir',
  description:
    'Nagala soo xiriir iimayl, WhatsApp ama Facebook. Saacadaha shaqada Isniin–Jimco 9:00–17:00; xaaladaha degdegga ah WhatsApp waqti kasta.',
  heading: 'Nala soo xiriir',
  lead: 'Su’aal weydii, badeecad nooga warran, ama na salaan. Af-Soomaali ama Ingiriisi ku soo qor.',
  channels: {
    email: { title: 'Iimayl', content: 'Su’aalaha maalin sugi kara', action: 'Iimayl soo qor' },
    whatsapp: { title: 'WhatsApp', content: 'Su’aal degdeg ah ama sawir', action: 'Fur WhatsApp' },
    facebook: { title: 'Facebook', content: 'Wararka iyo digniinaha cusub', action: 'Fur Facebook' },
  },
  officeTitle: 'Xogta xafiiska',
  hours: {
    title: 'Saacadaha shaqada',
    days: 'Isniin–Jimco 9:00–17:00',
    content: 'Waxaan diyaar u nahay la-tashi iyo warbixinno',
  },
  locations: { title: 'Goobaha', somalia: 'Soomaaliya', toronto: 'Toronto, Kanada' },
  emergency: {
    title: 'WhatsApp-ka degdegga ah',
    content: '24 saac, 7 maalmood, xaaladaha degdegga ah',
    action: 'WhatsApp\u2011ka degdegga ah',
  },
  reportTitle: 'Badeecad ma ku waxyeellaysay?',
  report: 'Noogu sheeg bogga warbixinta, si sir ah. Magacaaga looma baahna.',
  goToReport: 'Soo sheeg badeecad',
  scrollToReport: 'Tag qaybta warbixinta',
  disclaimerTitle: 'Annagu isbitaal ma nihin',
  disclaimer:
    'Waxa aan kuu sheegno waa waxbarasho oo keliya, mana beddelayo dhakhtarka ama farmashiistaha. Xaaladda degdegga ah isla markiiba raadi daryeel caafimaad: WhatsApp-keennu ma aha ambalaas.',
};
