export const text = {
  title: 'Warbixintaadii waan helnay',
  reference: 'Lambarka tixraaca',
  keep: 'Hay lambarkan. Noo sheeg marka aad warbixintaada wax ka weydiinayso.',
  withoutPhoto: 'Sawirka laguma dari karin. Warbixinta lafteedu waa dhammaystiran tahay.',
  copy: 'Koobbi garee',
  copied: 'Waa la koobbi gareeyay',
  share: 'WhatsApp kula wadaag',
  shareTrace: 'La wadaagiddu waxay farriin kaga tagaysaa WhatsApp-ka telefoonkan.',
  shareMessage: 'Warbixintayda Daawo waxay leedahay lambarka tixraaca {reference}.',
  toasts: {
    photoFailed: {
      title: 'Soo gelinta sawirku way fashilantay',
      description: 'Warbixinta waxaa loo gudbin doonaa sawir la’aan.',
    },
    success: {
      title: 'Warbixinta si guul leh ayaa loo gudbiyay',
      description:
        'Waad ku mahadsan tahay warbixintaada. Waan dib u eegi doonnaa, tallaabada ku habboonna waan qaadi doonnaa. Maamule ayaa la ogeysiiyay.',
    },
  },
};
