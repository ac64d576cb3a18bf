export const text = {
  title: 'Oops! Page not found',
  description: 'Oops! Page not found',
};
