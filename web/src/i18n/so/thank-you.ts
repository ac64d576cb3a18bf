export const text = {
  title: 'Mahadsanid',
  description: 'Mahadsanid',
};
