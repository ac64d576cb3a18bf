export const text = {
  title: 'We have your report',
  reference: 'Your reference',
  keep: 'Keep this reference. Give it to us when you ask about your report.',
  withoutPhoto: 'The photo could not be attached. The report itself is complete.',
  copy: 'Copy',
  copied: 'Copied',
  share: 'Share by WhatsApp',
  shareTrace: 'Sharing leaves a message in WhatsApp on this phone.',
  shareMessage: 'My report to Daawo has the reference {reference}.',
  toasts: {
    photoFailed: { title: 'Photo Upload Failed', description: 'Report will be submitted without photo.' },
    success: {
      title: 'Report Submitted Successfully',
      description:
        'Thank you for your report. We will review it and take appropriate action. An admin has been notified.',
    },
  },
};
