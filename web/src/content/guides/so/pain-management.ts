import type { Guide } from '../../guides';

export const guide: Guide = {
  slug: 'pain-management',
  title: 'Xanuunka si badbaado leh u yaree',
  description:
    'Sida badbaadada leh ee loo isticmaalo xanuun baabi’iyeyaasha, iyo sababta kuwa xooggan iyo isteroydhku taxaddar ugu baahan yihiin.',
  icon: 'bandage',
  category: 'Medicine',
  minute: [
    'Isticmaal waxa ugu fudud ee shaqeeya, inta ugu yar, muddada ugu gaaban.',
    'Weligaa ha wada qaadan laba daawo oo paracetamol ku jiro: wax badan wuxuu baabi’in karaa beerka.',
    'Xanuun baabi’iyeyaasha xooggan waad qabatimi kartaa, neefta way gaabin karaan, wayna dili karaan.',
  ],
  now: [
    'Baakad kasta ka akhri inuu ku jiro paracetamol (acetaminophen, Tylenol).',
    'Wax badan ma qaadatay? Isla markiiba tag isbitaal, xitaa haddii aad fiican tahay.',
    'Maalin kasta kiniinno ma u baahan tahay? U tag shaqaale caafimaad.',
  ],
  signs: ['slow', 'drowsy', 'bleeding', 'swelling', 'breathing', 'skin', 'poison'],
  content: [
    {
      type: 'section',
      title: 'Ku billow kan ugu fudud',
      content:
        'Isticmaal waxa ugu fudud ee shaqeeya, inta ugu yar, muddada ugu gaaban. Nasashada, qaboojinta ama kulaylka iyo dhaqdhaqaaqa tartiibta ah ayaa sidoo kale caawin kara.',
    },
    {
      type: 'section',
      title: 'Paracetamol (acetaminophen, Tylenol)',
      content:
        'Dadka waaweyn: 500 mg ilaa 1 g, ugu yaraan 4 saacadood ha u dhexeeyaan. 24 saacadood gudahood weligaa ha ka badin 4 qiyaasood ama 4 g (siddeed kiniin oo 500 mg ah). Marka hore weydii haddii miisaankaagu ka yar yahay 50 kg, aad beer ama kelli ka xanuunsato, khamri badan cabto, ama qaadato daawada qaaxada (TB) ama suuxdinta: waxaa laga yaabaa inaad wax ka yar u baahan tahay. Weligaa ha wada qaadan laba daawo oo paracetamol ku jiro.',
      figure: {
        name: 'tablets',
        caption:
          'Paracetamol, dadka waaweyn: 24 saacadood gudahood weligaa ha ka badin siddeed kiniin oo 500 mg ah.',
      },
    },
    {
      type: 'warning',
      content:
        'Paracetamol badan wuxuu baabi’in karaa beerka. Marka hore waxaa laga yaabaa inaad lalabbo keliya dareento. Daawada sunta ka hortagta (antidote) waxay ugu fiican tahay ku dhawaad 8 saacadood gudahood. Isla markiiba tag isbitaal, xitaa haddii aad fiican tahay.',
    },
    {
      type: 'section',
      title: 'Ibuprofen',
      content:
        'Dadka waaweyn, warqad dhakhtar la’aan: 200 ilaa 400 mg, ilaa 3 jeer maalintii, 6 saacadood ha u dhexeeyaan. Ugu badnaan 1,200 mg 24 saacadood gudahood, talo la’aanna ha ka badin 10 maalmood. Ku qaado cunto ama caano. Weligaa ha wada qaadan laba ka mid ah ibuprofen, diclofenac, naproxen iyo aspirin. Weydii ka hor inta aadan mid isticmaalin haddii:',
    },
    {
      type: 'checklist',
      items: [
        'xanuun baabi’iye noocaas ah uu hore kuugu keenay xasaasiyad ama xiiq',
        'aad hore u lahayd boog caloosha ah, dhiigbax ama istaroog (stroke)',
        'aad qabto cudurka wadnaha, kelyaha ama beerka, ama dhiig-kar aan la xakamayn',
        'aad qabto neef (asthma) ama busbus (chickenpox), ama aad qaadato daawada dhiigga khafiifisa',
        'aad uur leedahay, ama aad ka weyn tahay 65 sano',
      ],
    },
    {
      type: 'section',
      title: 'Carruurta',
      content:
        'Qiyaasta ilmuhu waxay ku xiran tahay miisaankiisa iyo da’diisa: weydii farmashiiste ama shaqaale caafimaad. Isticmaal daawo carruurta loo sameeyay. Sharoobada ku cabbir qaaddada ama siriinjiga la socda. Weligaa ilmo ha siin kiniinka dadka waaweyn. Ibuprofen ha siin ilmo busbus qaba ama biyo badan ka baxeen. Aspirin ha siin cid ka yar 16 sano, haddii uusan dhakhtar sidaas oran. Wuxuu keeni karaa cudurka Reye (Reye’s syndrome), oo waxyeelleeya maskaxda iyo beerka.',
    },
    {
      type: 'section',
      title: 'Metamizole (dipyrone, Novalgin)',
      content:
        'Keliya xanuun ama qandho daran oo daawo kale wax ka tari weyday, iyo warqad dhakhtar. Marar dhif ah waxay baabbi’isaa unugyada dhiigga cad ee caabuqa la dagaallama, qiyaas kasta iyo waqti kasta. Qandho, qarqaryo, dhuun-xanuun ama nabarro afka ah: jooji, isla markiiba dhakhtar u tag. Ha qaadan 3da bilood ee ugu dambeeya uurka iyo inta aad naas nuujinayso.',
    },
    {
      type: 'section',
      title: 'Xanuun baabi’iyeyaasha xooggan (opioids)',
      content:
        'Tramadol, codeine iyo morphine waad qabatimi kartaa, neefta way gaabin karaan, wayna dili karaan. Ku isticmaal warqad dhakhtar oo keliya, weligaa ha la qaadan khamri ama daawo hurdo ama dejin keenta. Codeine iyo tramadol ha siin carruurta ka yar 12 sano, hana qaadan inta aad naas nuujinayso.',
    },
    {
      type: 'warning',
      content:
        'Qiyaas xad-dhaaf ah oo xanuun baabi’iye xooggan: bu’da isha oo aad u yaraata, qof aan la toosin karin, neef gaabis ah ama aan jirin. Raadi gargaar degdeg ah. Isticmaal naloxone haddii la hayo. Qof neefsanaya laakiin aan toosin: dhinac u jiifi, madaxa gadaal u yara leexi (recovery position), hana ka tagin.',
    },
    {
      type: 'section',
      title: 'Isteroydh (steroid)',
      content:
        'Prednisolone iyo dexamethasone ma aha xanuun baabi’iye maalin kasta la qaato, mana aha wax lagu cayilo. Waxyeelladu waxay la kordhaa qiyaasta iyo muddada. Haddii kiniinnada la qaatay dhowr toddobaad ka badan, weligaa si lama filaan ah ha u joojin: shaqaale caafimaad waa inuu tallaabo tallaabo kuugu yareeyo.',
    },
    {
      type: 'section',
      title: 'Irbadaha dukaannada',
      content:
        'Dukaan ha ka iibsan irbad xanuun, qandho ama xoog loo qaato. Daawooyin badan oo la isku duro waa la liqi karaa. Irbad ama siriinji hore loo isticmaalay wuxuu kugu ridi karaa cagaarshow (hepatitis) ama HIV. Haddii shaqaale caafimaad irbad kugu taliyo, weydiiso in siriinji cusub oo xiran hortaada lagu furo.',
    },
    {
      type: 'section',
      title: 'U tag shaqaale caafimaad',
      content:
        'Haddii xanuunku socdo wax ka badan dhowr maalmood ama soo noqdo, ama haddii aad maalin kasta kiniinno u baahan tahay.',
    },
    {
      type: 'warning',
      content:
        'Hadda raadi caawimaad haddii aad qabto: laab xanuun; madax-xanuun lama filaan ah oo ah kii ugu xumaa ee abid; madax-xanuun leh qandho, qoor adayg ama wareer; daciifnimo ama kabuubyo dhinac ah; calool adag oo xanuun badan; xanuun dhaawac kaddib ama xilliga uurka.',
    },
  ],
  sources: [
    'NHS-PARA',
    'NHSW-PARA',
    'PARA-OD',
    'NHS-IBU',
    'NHS-IBU-W',
    'NHS-CHILD',
    'NHS-PARA-C',
    'NHS-REYE',
    'EMA-META',
    'EMA-META-PREG',
    'WHO-OPI',
    'UNODC-WHO',
    'NHS-RECOVERY',
    'FDA-COD',
    'NHS-STER',
    'WHO-INJ',
    'SOMED',
  ],
};
