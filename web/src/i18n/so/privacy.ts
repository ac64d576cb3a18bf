export const text = {
  title: 'Asturnaanta',
  description: 'Asturnaanta',
};
