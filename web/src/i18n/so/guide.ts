export const text = {
  title: 'Hage',
  description: 'Hage',
};
