export const text = {
  title: 'Nala soo xiriir',
  description: 'Nala soo xiriir',
};
