export const text = {
  title: 'Privacy',
  description: 'Privacy',
};
