type Show = (report: string | null) => void;

/** Milliseconds between two messages. The server ends a channel after more than five in 30 seconds. */
export const spacing = 7_000;

/** Milliseconds for which a report is open before it is shown, so that paging shows none. */
export const rest = 1_000;

/** Passes on the open report, not more often than the server allows. */
export function pacedShow() {
  let send: Show | undefined;
  let wanted: string | null = null;
  let shown: string | null | undefined; // undefined until colleagues know anything
  let sentAt = Number.NEGATIVE_INFINITY;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const plan = () => {
    clearTimeout(timer);
    if (!send || wanted === shown) return;
    const wait = shown === undefined ? 0 : Math.max(rest, sentAt + spacing - Date.now());
    timer = setTimeout(() => {
      sentAt = Date.now();
      shown = wanted;
      send?.(wanted);
    }, wait);
  };
  return {
    /** Takes the function of a channel that was just joined. */
    connect: (next: Show) => {
      send = next;
      shown = undefined;
      plan();
    },
    show: (report: string | null) => {
      wanted = report;
      plan();
    },
    stop: () => {
      clearTimeout(timer);
      send = undefined;
    },
  };
}
