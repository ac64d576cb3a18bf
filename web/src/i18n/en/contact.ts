export const text = {
  title: 'Contact us',
  description: 'Contact us',
};
