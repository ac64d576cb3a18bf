/** The statuses of a report, in the order of the work. */
export const statuses = ['new', 'reviewing', 'actioned', 'closed'] as const;
export type Status = (typeof statuses)[number];

/** The number of reports with each status. */
export type StatusCounts = Partial<Record<Status, number>>;
