/** The ways in which a notice reaches an authority. */
export const noticeChannels = ['paper', 'mail', 'portal', 'e2b', 'other'] as const;
export type NoticeChannel = (typeof noticeChannels)[number];
