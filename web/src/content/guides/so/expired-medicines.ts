import type { Guide } from '../../guides';

export const guide: Guide = {
  slug: 'expired-medicines',
  title: 'Daawada dhacday iyo tan been abuurka ah',
  description: 'Khatarta daawada dhacday ama been abuurka ah, sida daawada loo kaydiyo iyo sida loo tuuro.',
  icon: 'calendar',
  category: 'Safety',
  minute: [
    'Taariikhda dhicitaanka kaddib cidna ma ballan qaadi karto in daawadu ammaan tahay ama shaqaynayso.',
    'Kulaylka, qoyaanka iyo iftiinku daawada way xumeeyaan, xitaa ka hor taariikhdeeda.',
    'Tan been abuurka ah waxaa lagu iibiyaa suuqyada iyo internetka, laakiin sidoo kale farmashiyada iyo rugaha caafimaadka.',
  ],
  now: [
    'Eeg daawooyinkaaga. Ka saar wixii dhacay ama haray.',
    'Ku celi farmashi. Cidna ha siin, ha ka iibin, hana u dirin.',
    'Ma hore ayaad u qaadatay? Jooji, baakadka hay, kaddibna weydii farmashiiste ama xarunta sunta (poison centre).',
  ],
  signs: ['swelling', 'breathing', 'drowsy', 'bleeding', 'poison'],
  content: [
    {
      type: 'section',
      title: 'Taariikhda kaddib, ha isticmaalin',
      content:
        'Taariikhda dhicitaanka kaddib cidna ma ballan qaadi karto in daawadu ammaan tahay ama shaqaynayso. Way daciifi kartaa ama isbeddeli kartaa. Qaarkood bakteeriya ayaa ku dhex kori karta. Antibiyootig daciif ah wuu guuldarraysan karaa, wuxuuna jeermiska u fududeyn karaa inuu daawada iska caabbiyo.',
    },
    {
      type: 'section',
      title: 'Macnaha taariikhda',
      content:
        'EXP iyo bil iyo sannad badanaa macnaheedu waa: waad isticmaali kartaa ilaa maalinta ugu dambaysa ee bishaas. “Use by” ama “use before” iyo bil macnaheedu waa: jooji dhammaadka bishii ka horreysay.',
    },
    {
      type: 'section',
      title: 'Daawooyinka qaar ka hor ayay dhacaan',
      content:
        'Marka la furo, daawadu muddo dheer ma sii jiri karto: sharoobada antibiyootiga qiyaastii hal ilaa laba toddobaad marka la qaso kaddib, dhibcaha indhahana qiyaastii hal bil. Raac summadda ama farmashiistaha weydii. Haddii muuqaalka, urta ama dhadhanku isbeddelo, ha isticmaalin.',
    },
    {
      type: 'section',
      title: 'Si fiican u kaydi',
      content: 'Kulaylka, qoyaanka iyo iftiinku daawada way xumeeyaan, xitaa ka hor taariikhdeeda.',
      figure: {
        name: 'store',
        caption: 'Meel sare ama xiran, qabow, qallalan oo mugdi ah. Ha dhigin qorraxda ama uumiga.',
      },
    },
    {
      type: 'checklist',
      items: [
        'Dhig meel qabow, qallalan oo mugdi ah',
        'Ha dhigin musqusha, uumiga jikada, gaari gudihiis ama qorraxda',
        'Ku xir ama dhig meel sare, oo aysan carruurtu arki karin ama gaari karin',
        'Si joogto ah u eeg daawooyinkaaga. Ka saar wixii dhacay ama haray',
      ],
    },
    {
      type: 'section',
      title: 'Si badbaado leh u tuur',
      content:
        'Waxa ugu fiican: ku celi farmashi. Haddii aysan suurtagal ahayn: ha burburin. Ku qas ciid ama haraaga bunka la kariyay, bac ku xir, kuna rid qashinka guriga. Magacaaga ka tirtir baakadka. Ha ku shubin musqusha ama godka biyaha haddii aysan warqadda ku jirtaa sidaas oran. Guriga ha ku gubin.',
    },
    {
      type: 'section',
      title: 'Daawo been abuur ah ama tayo xun',
      content:
        'WHO waxay sheegtay in dalalka saboolka ah ugu yaraan 10kii badeecadood ee caafimaad mid ka mid ah ay tahay been abuur ama mid tayadeedu hooseyso. Waxaa lagu iibiyaa suuqyada iyo internetka, laakiin sidoo kale farmashiyada iyo rugaha caafimaadka. Tan been abuurka ah waxba kuma jiri karaan. Waxaa kale oo ku jiri kara jeeso ama istaarj (starch), daawo kale, wax aad u yar ama aad u badan. Muqdisho, dhakhaatiir ayaa ka warramay bukaanno ay jirro ku keentay daawo dhacday ama been abuur ah.',
    },
    {
      type: 'section',
      title: 'Hubi waxa aad iibsanayso',
      content:
        'Iibiyeyaasha qaar taariikhda ayay beddelaan. Fiiri taariikh la xoqay ama mid kale lagu dul dhejiyay. Daawo dhacday cidna ha siin, ha ka iibin, hana u dirin, xitaa qaraabadaada.',
    },
    {
      type: 'warning',
      content:
        'Ma hore ayaad u qaadatay? Ha argagixin. Jooji, baakadka hay, kaddibna weydii farmashiiste ama xarunta sunta (poison centre). Haddii aad aragto astaan khatar ah, raadi gargaar degdeg ah.',
    },
  ],
  sources: ['FDA-EXP', 'NHS-EXP', 'UKMI', 'ISMP', 'FDA-DISP', 'MEDICURE', 'WHO-SF', 'AJ'],
};
