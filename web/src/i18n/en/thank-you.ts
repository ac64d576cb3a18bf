export const text = {
  title: 'Thank you for your report',
  description: 'We will review it and take appropriate action. An admin has been notified.',
  reference: 'Your reference',
  keep: 'Keep this reference. Give it to us when you ask about your report.',
  home: 'Return to Home',
  another: 'Report another product',
};
