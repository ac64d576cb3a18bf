export const text = {
  title: 'Caafimaadka Haweenka',
  description: 'Caafimaadka Haweenka',
};
