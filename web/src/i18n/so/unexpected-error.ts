export const text = {
  title: 'Khalad lama filaan ah ayaa ka dhacay barnaamijka!',
  home: 'Ku noqo bogga hore',
};
