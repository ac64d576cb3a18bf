export const text = {
  title: 'Contact us',
  description:
    'Reach us by e-mail, WhatsApp or Facebook. Office hours Monday to Friday, 9:00–17:00; urgent cases on WhatsApp at any time.',
  heading: 'Contact us',
  lead: 'Ask a question, tell us about a product, or just say hello. Write in Somali or English.',
  channels: {
    email: { title: 'Email', content: 'For questions that can wait a day', action: 'Write an email' },
    whatsapp: { title: 'WhatsApp', content: 'For a quick question or a photo', action: 'Open WhatsApp' },
    facebook: { title: 'Facebook', content: 'For news and new warnings', action: 'Open Facebook' },
  },
  officeTitle: 'Office information',
  hours: {
    title: 'Office hours',
    days: 'Mon–Fri 9:00–17:00',
    content: 'Available for consultations and reports',
  },
  locations: { title: 'Locations', somalia: 'Somalia', toronto: 'Toronto, Canada' },
  emergency: {
    title: 'Emergency WhatsApp',
    content: 'Available 24/7 for urgent cases',
    action: 'Emergency WhatsApp',
  },
  reportTitle: 'Did a product harm you?',
  report: 'Tell us on the report page, in confidence. Your name is not required.',
  goToReport: 'Report a product',
  scrollToReport: 'Go to the report section',
  disclaimerTitle: 'We are not a hospital',
  disclaimer:
    'What we tell you is for education only and does not replace a doctor or a pharmacist. In an emergency get medical care immediately: our WhatsApp is not an ambulance.',
};
