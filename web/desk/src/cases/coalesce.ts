/** Milliseconds in which signals become one refresh. */
export const burst = 300;

/** Milliseconds after which a refresh without a reply holds up the next one no longer. */
export const patience = 10_000;

/**
 * Makes one refresh of signals that come together. Signals during a refresh lead to one more after
 * it, so that a stream of them neither delays nor overtakes the refresh.
 */
export function coalesce(refresh: () => Promise<unknown>) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let running = false;
  let again = false;
  let stopped = false;
  const signal = () => {
    if (stopped) return;
    if (running) again = true;
    else timer ??= setTimeout(run, burst);
  };
  const run = () => {
    timer = undefined;
    running = true;
    let ended = false;
    const end = () => {
      if (ended) return;
      ended = true;
      clearTimeout(limit);
      running = false;
      if (again) signal();
      again = false;
    };
    const limit = setTimeout(end, patience);
    refresh().then(end, end);
  };
  const stop = () => {
    stopped = true;
    clearTimeout(timer);
  };
  return { signal, stop };
}
