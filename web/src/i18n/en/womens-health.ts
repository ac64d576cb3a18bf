export const text = {
  title: "Women's Health",
  description: "Women's Health",
};
