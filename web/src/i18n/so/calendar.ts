export const text = {
  nextMonth: 'Bisha xigta',
  previousMonth: 'Bishii hore',
  month: 'Bil',
  year: 'Sannad',
};
