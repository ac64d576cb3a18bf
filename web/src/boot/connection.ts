const connection = (navigator as { connection?: { effectiveType?: string; saveData?: boolean } }).connection;

/** Whether the browser reports a fast connection without data saving. Firefox and Safari report none. */
export const fast = connection?.effectiveType === '4g' && !connection.saveData;

export function whenIdle(run: () => unknown) {
  window.requestIdleCallback?.(run, { timeout: 3000 }) ?? setTimeout(run, 1000); // Safari has no requestIdleCallback
}
