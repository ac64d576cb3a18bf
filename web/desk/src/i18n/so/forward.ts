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
};
