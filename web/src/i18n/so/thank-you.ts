export const text = {
  pageTitle: 'Warbixintaada',
  title: 'Waad ku mahadsan tahay warbixintaada',
  description:
    'Waan dib u eegi doonnaa, tallaabada ku habboonna waan qaadi doonnaa. Maamule ayaa la ogeysiiyay.',
  reference: 'Lambarka tixraaca',
  keep: 'Hay lambarkan. Noo sheeg marka aad warbixintaada wax ka weydiinayso.',
  home: 'Ku noqo bogga hore',
  another: 'Soo sheeg badeecad kale',
  none: {
    title: 'Hadda warbixin lama dirin',
    description:
      'Boggani wuxuu soo baxaa marka warbixin la diro. Haddii aad rabto inaad badeecad noo soo sheegto, fadlan isticmaal foomka.',
    form: 'Tag foomka',
  },
};
