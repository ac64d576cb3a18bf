/**
 * Returns the local start of a day ('2026-11-03') as an ISO time, or undefined for an empty field.
 */
export function startOfDay(day: string) {
  return day ? startOf(new Date(`${day}T00:00`)) : undefined;
}

/** Returns the local start of the day after, or undefined for an empty field. */
export function endOfDay(day: string) {
  return day ? startOf(addDays(new Date(`${day}T00:00`), 1)) : undefined;
}

/** Returns the day that ends at a time of endOfDay, or '' if there is none. */
export function dayBefore(end: string | undefined) {
  return end ? dayOf(addDays(new Date(`${end.slice(0, 10)}T00:00`), -1)) : '';
}

/** Returns the day of this moment in this place: '2026-11-03'. */
export const today = () => dayOf(new Date());

function addDays(date: Date, days: number) {
  date.setDate(date.getDate() + days);
  return date;
}

const two = (n: number) => String(n).padStart(2, '0');
/** A year that is being typed begins with zeros. */
const year = (d: Date) => String(d.getFullYear()).padStart(4, '0');
const dayOf = (d: Date) => `${year(d)}-${two(d.getMonth() + 1)}-${two(d.getDate())}`;

function startOf(date: Date) {
  const minutes = -date.getTimezoneOffset();
  const hours = two(Math.floor(Math.abs(minutes) / 60));
  return `${dayOf(date)}T00:00:00${minutes < 0 ? '-' : '+'}${hours}:${two(Math.abs(minutes) % 60)}`;
}
