export const text = {
  title: 'Learn',
  description: 'Learn',
};
