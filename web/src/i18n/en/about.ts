export const text = {
  title: 'About us',
  description: 'About us',
};
