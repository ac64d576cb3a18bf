export const text = {
  title: 'Unexpected Application Error!',
  description: 'Unexpected Application Error!',
};
