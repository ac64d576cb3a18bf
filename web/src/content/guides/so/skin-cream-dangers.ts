import type { Guide } from '../../guides';

export const guide: Guide = {
  slug: 'skin-cream-dangers',
  title: 'Khatarta kareemada maqaarka caddeeya',
  description: 'Waxa ku qarsoon kareemada caddeynta iyo kuwa la isku daro, iyo daryeel ka ammaan badan.',
  icon: 'cream',
  category: "Women's Health",
  minute: [
    'Midab kasta oo maqaar oo dabiici ah waa caafimaad.',
    'Badeecado badan oo maqaarka caddeeya waxaa ku jira meerkuri (mercury), haydarokinoon (hydroquinone) ama isteroydh (steroid) xooggan, mar walbana summadda kuma qorna.',
    'Dadka kale ee guriga jooga, gaar ahaan dhallaanka, waxaa sumayn kara kareem aysan weligood isticmaalin.',
  ],
  now: [
    'Meerkuri ama haydarokinoon: hadda jooji. Dhaq gacmahaaga iyo maqaarkaaga.',
    'Isteroydh xooggan oo toddobaadyo ama bilo la isticmaalay: isla markiiba shaqaale caafimaad weydii sida loo joojiyo.',
    'Badeecadda ku rid bac xiran, hay summadda iyo sawir, kaddibna soo sheeg.',
  ],
  signs: ['swelling', 'breathing', 'skin', 'drowsy', 'poison'],
  content: [
    {
      type: 'section',
      title: 'Maqaarkaagu waa caafimaad sida uu yahay',
      content:
        'Midab kasta oo maqaar oo dabiici ah waa caafimaad. Melanin, oo ah midabka maqaarka ku jira, wuxuu kaa ilaaliyaa qorraxda. Hagahani cidna ma eedeeyo. Wuxuu u jiraa inaad nabad qabto.',
    },
    {
      type: 'section',
      title: 'Waxa ku jiri kara',
      content:
        'Badeecado badan oo maqaarka caddeeya waxaa ku jira meerkuri (mercury), haydarokinoon (hydroquinone) ama isteroydh (steroid) xooggan. Badanaa waa la isku daraa, mar walbana summadda kuma qorna. Daraasad lala sameeyay haween Soomaaliyeed oo ku nool Minneapolis–St Paul, 27 badeecadood oo la baaray 11 ka mid ah ayuu meerkuri ku jiray.',
    },
    {
      type: 'section',
      title: 'Ha isku darin kareemada',
      content:
        'Isku darku wuxuu isu keenaa waxyaabo iyo qiyaaso aan la garanayn. Tusaale ahaan, tretinoin iyo hydroquinone oo la isku daro waxay sii xumeeyaan waxyeellooyinka.',
    },
    {
      type: 'section',
      title: 'Meerkuri (mercury)',
      content:
        'Lama arki karo, lama urin karo, lamana dhadhamin karo. Wuxuu waxyeellayn karaa kelyaha, dareemayaasha iyo maqaarka, wuxuuna keeni karaa walwal ama niyad-jab. Dadka kale ee guriga jooga, gaar ahaan dhallaanka, waxaa sumayn kara uumiga, tuwaallada ama taabashada. Wuxuu waxyeellayn karaa maskaxda ilmaha uurka ku jira ama ilmaha yar. Astaamaha: gariir, xusuus-xumo, isbeddel ku yimaada aragga ama maqalka, kabuubyo afka, gacmaha ama cagaha, xanaaq dhow, xishood ama niyad-jab. Heshiis Qaramada Midoobay ayaa dalalka ku jira faraya inay meerkuriga ka joojiyaan waxyaabaha la isku qurxiyo.',
    },
    {
      type: 'section',
      title: 'Haydarokinoon (hydroquinone)',
      content:
        'Wuxuu keeni karaa finan, waji barara, iyo baro buluug-madow ah oo laga yaabo inaysan weligood tegin. Kanada, wax ka badan 2% waxay u baahan yihiin warqad dhakhtar. Laguma taliyo xilliga uurka iyo naas nuujinta, iyo carruurta.',
    },
    {
      type: 'section',
      title: 'Isteroydh (steroid) xooggan',
      content:
        'Clobetasol iyo betamethasone waa isteroydh xooggan. Marka maqaarka lagu caddeeyo, waxay ka dhigi karaan mid khafiif ah, oo leh xariijimo, xididdo muuqda, finan iyo caabuq. Haddii wax badan la isticmaalo, waxay wax u dhimi karaan hoormoonnada jirka.',
      figure: {
        name: 'skin',
        caption:
          'Maqaar madow, laga bilaabo bidix: caafimaad; khafiif, leh xariijimo iyo xididdo muuqda (isteroydh xooggan); baro buluug-madow ah (haydarokinoon).',
      },
    },
    {
      type: 'section',
      title: 'Akhri summadda',
      content:
        'Ha isticmaalin badeecad aan maaddooyinkeeda la qorin, summaddeeda aadan akhriyi karin, ama ereyadan mid ka mid ah ku qoran yahay: mercury, mercurio, mercuric, mercurous chloride, calomel, cinnabar.',
    },
    {
      type: 'section',
      title: 'Haddii aad isticmaashay kareem noocaas ah',
      content: 'Keligaa ma tihid, caawimaadna way jirtaa:',
    },
    {
      type: 'checklist',
      items: [
        'Meerkuri ama haydarokinoon: hadda jooji. Dhaq gacmahaaga iyo maqaarkaaga',
        'Isteroydh xooggan oo toddobaadyo ama bilo la isticmaalay: isla markiiba shaqaale caafimaad weydii sida loo joojiyo. Joojintu waxay keeni kartaa guduudasho iyo gubasho daran. Keligaa dib ha u bilaabin',
        'Badeecadda ku rid bac xiran. Cidna ha siin, hana iibin',
        'Hay summadda iyo sawir, si aad u soo sheegto',
        'U tag shaqaale caafimaad, si degdeg ahna haddii aad uur leedahay, naas nuujinayso ama carruur guriga joogto',
      ],
    },
    {
      type: 'section',
      title: 'Daryeel ka ammaan badan',
      content:
        'Isticmaal kareemka qorraxda ka ilaaliya (sunscreen, SPF 30 ama ka badan, “broad spectrum”), dhar iyo hoos, iyo kareem caadi ah oo maqaarka qoyaanka u haya. Dhakhtar weydii baraha madow.',
    },
    {
      type: 'warning',
      content:
        'Si dhakhso ah u raadi daryeel caafimaad haddii wajigu bararo, ama maqaarku aad u guduuto, gubto ama nabarro biyo leh yeesho. Sidoo kale haddii qof ku nool guri kareem noocaas ah yaallo uu yeesho gariir, kabuubyo ama xusuus-xumo.',
    },
  ],
  sources: [
    'WHO-HG',
    'FDA-HG',
    'MDH',
    'MINAMATA',
    'MNMED',
    'FDA-HQ',
    'HC-HQ',
    'HC-BLUE',
    'SOUTHWARK',
    'MHRA-TSW',
    'AAD',
  ],
};
