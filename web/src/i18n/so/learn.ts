export const text = {
  title: 'Baro',
  description: 'Baro',
};
