export const text = {
  title: 'Unexpected Application Error!',
  home: 'Return to Home',
};
