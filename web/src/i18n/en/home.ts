export const text = {
  title: 'Home',
  description: 'Home',
};
