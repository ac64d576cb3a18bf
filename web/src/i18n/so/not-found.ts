export const text = {
  title: 'Waan ka xunnahay! Bogga lama helin',
  description: 'Waan ka xunnahay! Bogga lama helin',
};
