export const text = {
  title: 'Report a product',
  description: 'Report a product',
};
