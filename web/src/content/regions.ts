/** The 18 regions of Somalia and their districts, as the location picker shows them: English name, Somali name. */
export interface Place {
  name: string;
  somali: string;
}

export interface Region extends Place {
  districts: readonly Place[];
}

/** 'Banaadir (Banaadir)': how the location picker shows a place. */
export function placeLabel({ name, somali }: Place) {
  return `${name} (${somali})`;
}

export const regions: readonly Region[] = [
  {
    name: 'Banaadir',
    somali: 'Banaadir',
    districts: [
      { name: 'Abdiaziz', somali: 'Cabdicasiis' },
      { name: 'Bondhere', somali: 'Boondheere' },
      { name: 'Daynile', somali: 'Dayniile' },
      { name: 'Dharkenley', somali: 'Dharkenley' },
      { name: 'Hamar Jajab', somali: 'Xamar Jajab' },
      { name: 'Hamar Weyne', somali: 'Xamar Weyne' },
      { name: 'Heliwa', somali: 'Heliwaa' },
      { name: 'Hodan', somali: 'Hodan' },
      { name: 'Howl Wadag', somali: 'Howlwadaag' },
      { name: 'Kahda', somali: 'Kaxda' },
      { name: 'Karan', somali: 'Kaaraan' },
      { name: 'Shangani', somali: 'Shangaani' },
      { name: 'Shibis', somali: 'Shibis' },
      { name: 'Waberi', somali: 'Waaberi' },
      { name: 'Wadajir', somali: 'Wadajir' },
      { name: 'Warta Nabada', somali: 'Warta Nabadda' },
      { name: 'Yaqshid', somali: 'Yaaqshiid' },
    ],
  },
  {
    name: 'Awdal',
    somali: 'Awdal',
    districts: [
      { name: 'Borama', somali: 'Boorama' },
      { name: 'Baki', somali: 'Baki' },
      { name: 'Lughaya', somali: 'Lughaya' },
      { name: 'Zeila', somali: 'Saylac' },
    ],
  },
  {
    name: 'Woqooyi Galbeed',
    somali: 'Woqooyi Galbeed',
    districts: [
      { name: 'Hargeisa', somali: 'Hargeysa' },
      { name: 'Berbera', somali: 'Berbera' },
      { name: 'Gabiley', somali: 'Gabiley' },
      { name: 'Sheikh', somali: 'Sheekh' },
    ],
  },
  {
    name: 'Togdheer',
    somali: 'Togdheer',
    districts: [
      { name: 'Burao', somali: 'Burco' },
      { name: 'Buhoodle', somali: 'Buuhoodle' },
      { name: 'Odweyne', somali: 'Oodweyne' },
      { name: 'Sheikh', somali: 'Sheekh' },
    ],
  },
  {
    name: 'Sanaag',
    somali: 'Sanaag',
    districts: [
      { name: 'Erigavo', somali: 'Ceerigaabo' },
      { name: 'El Afweyn', somali: 'Ceel Afweyn' },
      { name: 'Las Khorey', somali: 'Laasqoray' },
    ],
  },
  {
    name: 'Sool',
    somali: 'Sool',
    districts: [
      { name: 'Las Anod', somali: 'Laascaanood' },
      { name: 'Aynabo', somali: 'Caynabo' },
      { name: 'Taleh', somali: 'Taleex' },
      { name: 'Hudun', somali: 'Xudun' },
      { name: 'Buhoodle', somali: 'Buuhoodle' },
    ],
  },
  {
    name: 'Bari',
    somali: 'Bari',
    districts: [
      { name: 'Bosaso', somali: 'Boosaaso' },
      { name: 'Alula', somali: 'Caluula' },
      { name: 'Bandarbeyla', somali: 'Bandarbayla' },
      { name: 'Iskushuban', somali: 'Iskushuban' },
      { name: 'Qandala', somali: 'Qandala' },
      { name: 'Qardho', somali: 'Qardho' },
    ],
  },
  {
    name: 'Nugaal',
    somali: 'Nugaal',
    districts: [
      { name: 'Garowe', somali: 'Garoowe' },
      { name: 'Burtinle', somali: 'Burtinle' },
      { name: 'Eyl', somali: 'Eyl' },
    ],
  },
  {
    name: 'Mudug',
    somali: 'Mudug',
    districts: [
      { name: 'Galkayo', somali: 'Gaalkacyo' },
      { name: 'Galdogob', somali: 'Galdogob' },
      { name: 'Harardhere', somali: 'Xarardheere' },
      { name: 'Hobyo', somali: 'Hobyo' },
      { name: 'Jariban', somali: 'Jariiban' },
    ],
  },
  {
    name: 'Galguduud',
    somali: 'Galguduud',
    districts: [
      { name: 'Dhusamareb', somali: 'Dhuusamarreeb' },
      { name: 'Abudwak', somali: 'Caabudwaaq' },
      { name: 'Adado', somali: 'Cadaado' },
      { name: 'El Buur', somali: 'Ceelbuur' },
      { name: 'El Dher', somali: 'Ceeldheer' },
    ],
  },
  {
    name: 'Hiraan',
    somali: 'Hiiraan',
    districts: [
      { name: 'Beledweyne', somali: 'Beledweyne' },
      { name: 'Bulo Burte', somali: 'Buulobarde' },
      { name: 'Jalalaqsi', somali: 'Jalalaqsi' },
    ],
  },
  {
    name: 'Shabeellaha Dhexe',
    somali: 'Shabeellaha Dhexe',
    districts: [
      { name: 'Jowhar', somali: 'Jowhar' },
      { name: 'Adale', somali: 'Cadale' },
      { name: 'Adan Yabal', somali: 'Aadan Yabaal' },
      { name: 'Balad', somali: 'Balcad' },
    ],
  },
  {
    name: 'Shabeellaha Hoose',
    somali: 'Shabeellaha Hoose',
    districts: [
      { name: 'Merca', somali: 'Marka' },
      { name: 'Afgoye', somali: 'Afgooye' },
      { name: 'Barawa', somali: 'Baraawe' },
      { name: 'Kurtunwarey', somali: 'Kurtunwaarey' },
      { name: 'Qoryoley', somali: 'Qoryooley' },
      { name: 'Sablale', somali: 'Sablaale' },
      { name: 'Wanlaweyn', somali: 'Wanlaweyn' },
    ],
  },
  {
    name: 'Bay',
    somali: 'Bay',
    districts: [
      { name: 'Baidoa', somali: 'Baydhabo' },
      { name: 'Burhakaba', somali: 'Buurhakaba' },
      { name: 'Dinsor', somali: 'Diinsoor' },
      { name: 'Qansah Dhere', somali: 'Qansaxdheere' },
    ],
  },
  {
    name: 'Bakool',
    somali: 'Bakool',
    districts: [
      { name: 'Hudur', somali: 'Xuddur' },
      { name: 'El Barde', somali: 'Ceelbarde' },
      { name: 'Rab Dhure', somali: 'Rabdhuure' },
      { name: 'Tiyeglow', somali: 'Tayeeglow' },
      { name: 'Wajid', somali: 'Waajid' },
    ],
  },
  {
    name: 'Gedo',
    somali: 'Gedo',
    districts: [
      { name: 'Garbaharey', somali: 'Garbahaarrey' },
      { name: 'Bardera', somali: 'Baardheere' },
      { name: 'Beled Hawo', somali: 'Beledxaawo' },
      { name: 'Dolow', somali: 'Doolow' },
      { name: 'El Wak', somali: 'Ceelwaaq' },
      { name: 'Luuq', somali: 'Luuq' },
    ],
  },
  {
    name: 'Jubbada Dhexe',
    somali: 'Jubbada Dhexe',
    districts: [
      { name: "Bu'ale", somali: "Bu'aale" },
      { name: 'Jilib', somali: 'Jilib' },
      { name: 'Sakow', somali: 'Saakow' },
    ],
  },
  {
    name: 'Jubbada Hoose',
    somali: 'Jubbada Hoose',
    districts: [
      { name: 'Kismayo', somali: 'Kismaayo' },
      { name: 'Afmadow', somali: 'Afmadow' },
      { name: 'Badhadhe', somali: 'Badhaadhe' },
      { name: 'Jamame', somali: 'Jamaame' },
    ],
  },
];
