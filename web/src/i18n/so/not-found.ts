export const text = {
  title: 'Waan ka xunnahay! Bogga lama helin',
  description: 'Boggan ma jiro.',
  home: 'Ku noqo bogga hore',
  hint: 'Waxaa laga yaabaa in cinwaanku khaldan yahay, ama bogga la raray.',
};
