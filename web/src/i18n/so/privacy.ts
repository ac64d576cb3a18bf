export const text = {
  title: 'Asturnaanta',
  description:
    'Waxa aan ururinno, waxa aan ku samayno, sida aan u ilaalinno iyo waxa aad na weydiisan karto.',
  heading: 'Asturnaanta',
  updated: 'Markii ugu dambaysay ee la cusboonaysiiyay: Janaayo 2024',
  summary:
    'Wax walba waad akhrin kartaa magac la’aan; waxa aad soo sheegto waxaa arka kooxdeenna oo keliya, weligeedna lama daabaco.',
  contents: 'Boggan waxa ku jira',
  lead: 'Dadka qaar waa inaan la arkin iyagoo daawo wax ka weydiinaya. Waxa aad noo sheegto waan qarinnaa, waxaanna ururinnaa inta ugu yar.',
  sections: [
    {
      title: 'Xogta aan ururinno',
      paragraphs: [
        'Bog kasta waad akhrin kartaa adigoon noo sheegin cidda aad tahay. Ma jiro akoon, ma jiraan xayeysiisyo, mana jiro wax kaa daba socda.',
        'Marka aad warbixin dirto waxaan haynaa waxa aad qorto: lambar telefoon, badeecadda, waxa dhacay iyo gobolkaaga, haddii aad rabtana magacaaga, meesha aad ka soo iibsatay, lambarka dufcadda, taariikhda dhicitaanka, degmada iyo sawir. Sawirrada waxaan ka saarnaa xogta qarsoon, sida meesha lagu qaaday.',
        'Ma kaydinno cinwaanka internetka ama nooca telefoonka ay warbixintu ka timid. Waxaan tirinnaa inta jeer ee hage la soo dejiyay, ma aha cidda soo dejisay.',
      ],
    },
    {
      title: 'Sida aan u isticmaalno',
      paragraphs: [
        'Warbixinta waxaan u isticmaalnaa inaan fahanno waxa dhacay, iyo inaan dadka kale uga digno badeecad khatar ah. Digniintu weligeed ma sheegto cidda soo sheegtay. Haddii aan wax kale u baahanno, waan ku soo wacnaa ama waan kuu soo qornaa.',
        'Waxa aad noo sheegto ma iibinno, magacaaga ama lambarkaagana cidna lama wadaagno haddii aadan oggolaan ama sharci uusan na farin.',
      ],
    },
    {
      title: 'Sida aan u ilaalinno',
      paragraphs: [
        'Xogta warbixinta waa sir. Waxaa akhrin kara oo keliya dadka kooxdeenna ee warbixinnada ka shaqeeya. Sawirradu si gaar ah ayay u kaydsan yihiin.',
        'Warbixin aadan weli dirin waxay ku jirtaa bogga browser-kaaga ee furan. Way baxdaa marka aad dirto, marka aad tirtirto, ama 30 daqiiqo oo aan la isticmaalin kaddib. Haddii telefoonka lala wadaago, xir bogga marka aad dhammayso.',
      ],
    },
    {
      title: 'Xuquuqdaada',
      paragraphs: [
        'Waxaad weydiisan kartaa inaad aragto waxa aad soo dirtay, in la saxo ama la tirtiro. Noo sheeg lambarka tixraaca ee lagu tusay markii aad warbixinta dirtay.',
      ],
    },
    {
      title: 'Xiriirka',
      paragraphs: [
        'Su’aal ma ka qabtaa asturnaanta? Noogu soo qor iimayl ama WhatsApp. WhatsApp, Facebook iyo adeegga iimaylkaagu waxay leeyihiin xeerar asturnaan oo u gaar ah, sheekaduna raad ayay telefoonkaaga uga tagtaa.',
      ],
    },
  ],
  email: 'Iimayl soo qor',
  whatsapp: 'Fur WhatsApp',
};
