export const text = {
  title: 'Soo sheeg badeecad',
  description: 'Soo sheeg badeecad',
};
