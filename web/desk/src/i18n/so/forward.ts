import type { text as english } from '../en/forward';

export const text: typeof english = {
  title: 'Ogeysiis ku socda hay’adda',
  intro:
    'Magaca, lambarka, dukaanka iyo sawirku halkan ayay ku harayaan. Akhri faahfaahinta oo ka saar eray kasta oo qof sheegi kara.',
  description: 'Faahfaahin',
  checked: 'Waan akhriyay. Qof ma sheegayso.',
  print: 'Daabac ama u kaydi PDF',
  from: 'Warbixin ku saabsan alaab caafimaad oo waxyeello leh ama laga shakiyay',
  reference: 'Tixraac',
  received: 'La helay',
  e2b: 'Kaydi faylka E2B(R3)',
  e2bHelp:
    'Faylku magac iyo lambar midna ma leh. Waxa warbixintu aysan lahayn waxaa loo calaamadiyay lama yaqaan, falcelintana MedDRA laguma koodhin: hay’adda ayaa koodhisa. Soo gelinta VigiFlow lama tijaabin.',
  record: 'Diiwaangeli in ogeysiiska la diray',
  recordIt: 'Diiwaangeli',
  recipient: 'Hay’adda loo diray',
  channel: 'Habka',
  channels: {
    paper: 'Warqad',
    mail: 'Iimayl',
    portal: 'Foomka webka',
    e2b: 'Faylka E2B(R3)',
    other: 'Hab kale',
  },
  sentOn: 'La diray',
  receipt: 'Lambarkooda',
  notices: 'Ogeysiisyada hay’adaha',
};
