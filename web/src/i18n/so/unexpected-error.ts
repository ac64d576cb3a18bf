export const text = {
  title: 'Khalad lama filaan ah ayaa ka dhacay barnaamijka!',
  description: 'Khalad lama filaan ah ayaa ka dhacay barnaamijka!',
};
