import type { Guide } from '../../guides';

export const guide: Guide = {
  slug: 'antibiotics-guide',
  title: 'Si badbaado leh u isticmaal antibiyootiga',
  description: 'Goorta antibiyootigu caawiyo, goorta uusan caawin, iyo sida loo isticmaalo.',
  icon: 'capsule',
  category: 'Medicine',
  minute: [
    'Antibiyootigu bakteeriya keliya ayuu wax ka qabtaa. Hargabka iyo infuleensada waxba kama taro.',
    'Isticmaal oo keliya marka uu kuu qoro shaqaale caafimaad, u qaadona sida laguu sheegay.',
    'Si khaldan oo loo isticmaalo waxay keentaa in jeermisku iska caabbiyo: daawadu mar dambe ma disho.',
  ],
  now: [
    'Hadda ma qaadanaysaa? La tasho shaqaalaha caafimaadka ka hor inta aadan joojin, ama haddii aad ka sii darto.',
    'Wax ma kaa hareen? Weligaa ha isticmaalin, cidna ha la wadaagin. Ku celi farmashi.',
    'Sheeg haddii antibiyootig uu hore si xun kuu galay, ama haddii aad uur leedahay ama laga yaabo.',
  ],
  signs: ['swelling', 'breathing', 'colour', 'skin', 'bleeding', 'limp'],
  content: [
    {
      type: 'section',
      title: 'Bakteeriya keliya ayuu wax ka qabtaa',
      content:
        'Antibiyootigu wuxuu la dagaallamaa jeermis la yiraahdo bakteeriya. Fayraska waxba kama qabto. Waxba kama taro hargabka, infuleensada (flu), inta badan dhuun-xanuunka, inta badan qufaca ama sanka dareeraya, xitaa haddii duufku jaalle ama cagaar yahay.',
      figure: {
        name: 'germs',
        caption:
          'Antibiyootigu wuxuu la dagaallamaa bakteeriyada (bidix). Fayraska waxba kama qabto (midig).',
      },
    },
    {
      type: 'section',
      title: 'Goorta aad u baahan tahay',
      content:
        'Caabuqyada bakteeriyada qaarkood antibiyootig la’aan ayay ku bogsadaan. Marka aad u baahan tahay, faa’iidadiisu way ka badan tahay khatarta. Marka aadan u baahnayn, waxba kuma tarayo, laakiin wax buu ku yeeli karaa. Ha ku adkaysan haddii shaqaalaha caafimaadku maya ku yiraahdo.',
    },
    {
      type: 'section',
      title: 'Sida loo qaato',
      content: 'Isticmaal oo keliya marka uu kuu qoro shaqaale caafimaad oo aqoon leh. Kaddib:',
    },
    {
      type: 'checklist',
      items: [
        'Ka hor qiyaasta ugu horreysa, sheeg haddii antibiyootig sida penicillin uu hore si xun kuu galay: finan, barar, neefsasho adag',
        'U qaado sida laguu sheegay: inta, waqtiyada iyo tirada maalmaha',
        'La tasho shaqaalaha caafimaadka ka hor inta aadan joojin, ama haddii aad ka sii darto',
        'Qiyaas ma ilowday? Qaado isla marka aad xusuusato. Haddii tan xigta waqtigeedu dhow yahay, iska dhaaf tii aad ilowday. Weligaa laba ha isku mar qaadan. Haddii warqadda daawadu si kale sheegto, iyada raac',
        'Cidna ha la wadaagin, mar dambe ha u kaydsan, hana isticmaalin wax haray ama daawo qof kale',
        'Weydii sida loo hayo antibiyootiga dareeraha ah: qaarkood waxay u baahan yihiin qaboojiye, mana sii raagaan marka la qaso',
        'Sheeg haddii aad uur leedahay ama laga yaabo: qaarkood (tetracyclines, streptomycin, kanamycin) waxay waxyeellayn karaan ilmaha uurka ku jira',
      ],
    },
    {
      type: 'section',
      title: 'Waxyeellooyinka',
      content:
        'Kuwa caadiga ah waa finan, wareer, lalabbo, shuban iyo caabuqa fangaska (yeast). Dadka qaar waxaa ku dhaca xasaasiyad nafta halis gelisa, ama shuban khatar ah oo ka yimaada jeermiska C. difficile.',
    },
    {
      type: 'section',
      title: 'Iska caabbinta: marka daawadu shaqayn weydo',
      content:
        'Antibiyootiga oo si khaldan ama si badan loo isticmaalo wuxuu keenaa in bakteeriyadu iska caabbiso: daawadu mar dambe ma disho. Sannadkii 2019, bakteeriyada daawada iska caabbisa waxay si toos ah u sababtay dhimashada ku dhawaad 1.27 milyan oo qof oo adduunka ah. Iska caabbintu waxay khatar badan ka dhigtaa caabuqyada caadiga ah, qalliinnada iyo dhalmada qalliinka.',
    },
    {
      type: 'section',
      title: 'Daawada qaaxada (TB)',
      content:
        'Qaaxada waxaa lagu daweeyaa dhowr daawo oo bilo la qaato. U qaado sida laguu qoray. Haddii aad goor hore joojiso, jeermiska haray daawada wuu iska caabbin karaa. Isla markiiba shaqaale caafimaad u sheeg haddii maqaarka ama indhuhu huruud noqdaan, kaadidu madoobaato, aad mataggo, gacmaha ama cagaha kabuubyo ka dareento, ama araggu isbeddelo. Rifampicin wuxuu kaadida iyo ilmada ka dhigaa oranji: taasi waa caadi. Wuxuu daciifin karaa kiniinka uurka ka hortaga iyo daawooyin kale. Sheeg waxa aad qaadato.',
    },
    {
      type: 'section',
      title: 'Haddii aad hargab qabto',
      content:
        'Naso, wax badan cab, qandhada ama xanuunkana u daawee sida ay summaddu sheegayso. Fayrasyadan badankoodu waxay ku dhammaadaan hal ilaa laba toddobaad. Si aad u caafimaad qabto: gacmaha dhaq, cun cunto nadiif ah, tallaallada qaado, kana fogow dadka jirran.',
    },
    {
      type: 'section',
      title: 'Ka digtoonow been abuurka',
      content:
        'Antibiyootiga iyo daawooyinka duumada waxay ka mid yihiin kuwa ugu badan ee la soo sheego inay been abuur yihiin ama tayadoodu hooseyso. Ka iibso farmashi aad aamini karto.',
    },
    {
      type: 'warning',
      content:
        'Isla markiiba raadi caawimaad haddii uu ku haleelo shuban daran ama dhiig leh inta aad antibiyootiga qaadanayso ama kaddib. Tag xarun caafimaad haddii qandhadu tegi weydo ama soo noqoto, ama haddii ilmo wax cabbi kari waayo ama uu aad u hurdo badan yahay.',
    },
  ],
  sources: [
    'CDC-1',
    'NHS-ALLERGY',
    'NHS-MISSED',
    'WHO-ABX',
    'WHO-AMR',
    'CMN-SO',
    'CDC-TB',
    'WHO-TB',
    'NHS-EXP',
    'WHO-SF',
    'CDPH',
    'EWC',
  ],
};
