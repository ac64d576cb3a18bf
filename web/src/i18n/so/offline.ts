export const text = {
  title: 'Xiriir ma jiro',
  description: 'Boggan lama soo rari karin.',
  hint: 'Boggan kuma jiro qalabkan, xiriirkuna wuu fashilmay. Bogga dib u cusboonaysii marka aad xiriir hesho.',
  kept: 'Bogaggan waxay ku jiri karaan qalabkan:',
};
