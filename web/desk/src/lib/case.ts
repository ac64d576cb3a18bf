/** The criteria that make a case serious (ICH E2A and E2D); one of them is enough. */
export const criteria = [
  'death',
  'life_threatening',
  'hospital',
  'disability',
  'congenital',
  'important',
] as const;
export type Criterion = (typeof criteria)[number];

export const priorities = ['normal', 'high', 'urgent'] as const;
export type Priority = (typeof priorities)[number];
