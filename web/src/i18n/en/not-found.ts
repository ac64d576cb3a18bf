export const text = {
  title: 'Oops! Page not found',
  description: 'This page does not exist.',
  home: 'Return to Home',
  hint: 'The address may be wrong, or the page may have moved.',
};
