export const text = {
  title: 'Nagu saabsan',
  description: 'Nagu saabsan',
};
