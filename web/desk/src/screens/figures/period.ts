const day = 86_400_000;
const daysOfMonth = 30.44; // on average

/** Returns the first day of the last months as '2026-11-03'. */
export function periodStart(months: number, now = Date.now()) {
  return new Date(now - months * daysOfMonth * day).toISOString().slice(0, 10);
}
