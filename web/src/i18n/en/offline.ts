export const text = {
  title: 'No connection',
  description: 'This page could not be loaded.',
  hint: 'This page is not kept on this device, and the connection failed. Reload the page when you have a connection.',
  kept: 'These pages may be on this device:',
};
