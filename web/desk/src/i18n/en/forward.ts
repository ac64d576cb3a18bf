export const text = {
  title: 'Notice to the authority',
  intro:
    'Name, number, shop and photo stay here. Read the description and take out every word that could name a person.',
  description: 'Description',
  checked: 'I have read it. It names no person.',
  print: 'Print or save as PDF',
  from: 'Report of a harmful or suspect medical product',
  reference: 'Reference',
  received: 'Received on',
  e2b: 'Save E2B(R3) file',
  e2bHelp:
    'The file has no name and no number. What a report does not have is marked as unknown, and the reaction is not coded in MedDRA: the authority codes it. An import into VigiFlow has not been tried.',
  record: 'Record that the notice was sent',
  recordIt: 'Record',
  recipient: 'To which authority',
  channel: 'By',
  channels: { paper: 'Paper', mail: 'E-mail', portal: 'Web form', e2b: 'E2B(R3) file', other: 'Another way' },
  sentOn: 'Sent on',
  receipt: 'Their number',
  notices: 'Notices to authorities',
};
