export const text = {
  title: 'Resources',
  description: 'Resources',
};
