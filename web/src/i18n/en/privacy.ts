export const text = {
  title: 'Privacy',
  description: 'What we collect, what we do with it, how we protect it and what you can ask of us.',
  heading: 'Privacy',
  updated: 'Last updated January 2024',
  summary:
    'You can read everything without giving a name. Only our team sees what you report, and we never publish it.',
  contents: 'On this page',
  lead: 'Some people must not be seen asking about medicine. We keep what you tell us confidential, and we collect as little as we can.',
  sections: [
    {
      title: 'Information we collect',
      paragraphs: [
        'You can read every page without telling us who you are. There is no account, no advertising and nothing that follows you from site to site.',
        'When you send a report we keep what you write: a phone number, the product, what happened and your region, and, if you wish, your name, where you bought it, the batch number, the expiry date, a district and a photo. We remove hidden data, such as the place where it was taken, from photos.',
        'We do not store the internet address or the kind of phone that a report comes from. We count how often a guide is downloaded, not by whom.',
      ],
    },
    {
      title: 'How we use it',
      paragraphs: [
        'We use a report to understand what happened, to call or write to you if we need to know more, and to warn others about a dangerous product. A warning never says who reported.',
        'We do not sell what you tell us, and we do not share your name or number unless you agree or a law requires it.',
      ],
    },
    {
      title: 'How we protect it',
      paragraphs: [
        'Report information is kept confidential. Only the people of our team who handle reports can read it. Photos are stored privately.',
        'A report that you have not sent yet stays in this browser tab. It is deleted when you send it, when you clear it, or after 30 minutes without use. If you share your phone, close the tab when you are done.',
      ],
    },
    {
      title: 'Your rights',
      paragraphs: [
        'You can ask to see what you sent, to correct it or to have it deleted. Tell us the reference that you were shown when you sent the report.',
      ],
    },
    {
      title: 'Contact',
      paragraphs: [
        'Questions about privacy? Write to us by e-mail or on WhatsApp. WhatsApp, Facebook and your e-mail service have privacy rules of their own, and a chat leaves a trace on your phone.',
      ],
    },
  ],
  email: 'Write an e-mail',
  whatsapp: 'Open WhatsApp',
};
