export const text = {
  title: 'Guide',
  description: 'Guide',
};
