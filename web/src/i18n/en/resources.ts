export const text = {
  title: 'Resources',
  description: 'Free guides and posters about safe medicine use, to read, print and share.',
  loading: 'Loading resources...',
  noscript: 'This list needs scripts. The same guides can be read here without them:',
  instead: 'The same guides can be read here without the list:',
  noscriptLink: 'Read the guides',
  featured: 'Featured Resources',
  empty: 'There is nothing to download yet. The guides can be read on this site.',
  kept: 'You are offline: this is the list from your last visit.',
  download: 'Download',
  downloads: 'Downloads: {count}',
  fileSize: 'File size',
  fileType: 'File type',
  toasts: {
    loadFailed: {
      title: 'Loading Error',
      description: 'Failed to load resources. Please refresh the page.',
    },
    trackFailed: {
      title: 'Download Error',
      description: 'Failed to track download, but you can still access the resource.',
    },
    started: { title: 'Download Started', description: '{title} is downloading now.' },
    comingSoon: { title: 'Coming Soon', description: '{title} will be available for download soon.' },
  },
  closing: {
    title: 'Share Knowledge, Save Lives',
    text: 'Print a guide for your clinic, mosque or school, or send this page to somebody who needs it.',
  },
};
