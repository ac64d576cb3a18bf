export const text = {
  title: 'Thank you',
  description: 'Thank you',
};
