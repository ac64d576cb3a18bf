export const text = {
  title: 'Bogga Hore',
  description: 'Bogga Hore',
};
