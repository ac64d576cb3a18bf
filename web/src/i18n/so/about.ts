export const text = {
  title: 'Nagu saabsan',
  description:
    'Cidda aan nahay: hay’ad aan faa’iido doon ahayn oo bulshada Soomaaliyeed ee Soomaaliya iyo Toronto, Kanada, bara isticmaalka badbaado leh ee daawada.',
  heading: 'Badbaadada daawadu waxay ka bilaabataa aqoonta',
  lead: 'Waxaan nahay hay’ad aan faa’iido doon ahayn. Waxaan la shaqaynaa bulshada Soomaaliyeed ee Soomaaliya iyo Toronto, Kanada, gaar ahaan haweenka iyo dhallinyarada.',
  mission: {
    title: 'Ujeeddadeenna',
    content:
      'Inaan qoys kasta oo Soomaaliyeed siinno xog cad oo run ah oo ku saabsan daawada, afkooda ku qoran. Cidna waa inaysan waxyeello ka soo gaarin badeecad loogu talagalay inay caawiso.',
  },
  vision: {
    title: 'Hiigsigeenna',
    content:
      'Bulsho dadkeedu ay garanayaan waxa ay qaataan, weydiiya ka hor inta aysan qaadan, kana hadla marka badeecad wax yeesho.',
  },
  valuesTitle: 'Qiyamkeenna aasaasiga ah',
  values: {
    respect: {
      title: 'Ixtiraam',
      content: 'Cidna ma eedeyno, cidna ma ceebeyno. Su’aal kasta waa la soo dhaweynayaa.',
    },
    evidence: {
      title: 'Caddayn',
      content: 'Waxaan qornaa waxa ay hay’adaha caafimaadku caddeeyeen, ilahana waan sheegnaa.',
    },
    community: {
      title: 'Bulsho',
      content: 'Waxaan wax ka barannaa hooyooyinka, dhallinyarada, odayaasha iyo shaqaalaha caafimaadka.',
    },
    transparency: {
      title: 'Hufnaan',
      content:
        'Waxaan sheegnaa cidda aan nahay, waxa aan ku samayno warbixinnada, iyo waxa aannaan garanayn.',
    },
  },
  figuresTitle: 'Shaqadeenna oo tiro ah',
  figures: {
    educated: 'dad la wacyigeliyay',
    reported: 'badeecado la soo sheegay',
    support: 'taageerada bulshada',
  },
  organisation: {
    title: 'Cidda ka dambaysa Daawo',
    content:
      'Waxaan nahay hay’ad aan faa’iido doon ahayn, waxbana ma iibinno. Waad na weydiin kartaa cidda aan nahay iyo cidda qoraalladeenna hubisa.',
    people: 'Dadkayaga',
    address: 'Cinwaankeenna',
    partners: 'La-hawlgalayaashayada',
    reviewers: 'Cidda qoraalladeenna hubisa',
  },
  next: 'Ma rabtaa inaad caawiso, mise su’aal baad qabtaa?',
  contact: 'Nala soo xiriir',
};
