export const text = {
  nextMonth: 'Next month',
  previousMonth: 'Previous month',
  month: 'Month',
  year: 'Year',
};
