export const text = {
  title: 'Agabka waxbarashada',
  description: 'Agabka waxbarashada',
};
