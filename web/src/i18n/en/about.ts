export const text = {
  title: 'About us',
  description:
    'Who we are: a non-profit that teaches safe medicine use to Somali communities in Somalia and Toronto, Canada.',
  heading: 'Safe medicine starts with knowing',
  lead: 'We are a non-profit. We work with Somali communities in Somalia and in Toronto, Canada, above all with women and youth.',
  mission: {
    title: 'Our mission',
    content:
      'To give every Somali family clear, honest facts about medicine, in their own language, so that nobody is harmed by a product that was meant to help.',
  },
  vision: {
    title: 'Our vision',
    content:
      'Communities where people know what they take, ask before they take it, and speak up when a product does harm.',
  },
  valuesTitle: 'Our core values',
  values: {
    respect: {
      title: 'Respect',
      content: 'We blame nobody and shame nobody. Every question is welcome.',
    },
    evidence: {
      title: 'Evidence',
      content: 'We write what health authorities have shown, and we name our sources.',
    },
    community: {
      title: 'Community',
      content: 'We learn from mothers, young people, elders and health workers.',
    },
    transparency: {
      title: 'Transparency',
      content: 'We say who we are, what we do with reports, and what we do not know.',
    },
  },
  figuresTitle: 'Our work in numbers',
  figures: {
    educated: 'people educated',
    reported: 'products reported',
    support: 'community support',
  },
  organisation: {
    title: 'Who stands behind Daawo',
    content: 'We are a non-profit and sell nothing. You may ask us who we are and who checks our texts.',
    people: 'Our people',
    address: 'Our address',
    partners: 'Our partners',
    reviewers: 'Who checks our texts',
  },
  next: 'Do you want to help, or ask something?',
  contact: 'Contact us',
};
