export const text = {
  pageTitle: 'Your report',
  title: 'Thank you for your report',
  description: 'We will review it and take appropriate action. An admin has been notified.',
  reference: 'Your reference',
  keep: 'Keep this reference. Give it to us when you ask about your report.',
  home: 'Return to Home',
  another: 'Report another product',
  none: {
    title: 'No report was sent just now',
    description:
      'This page follows a sent report. If you want to tell us about a product, please use the form.',
    form: 'Go to the form',
  },
};
