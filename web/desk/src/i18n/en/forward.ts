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
};
