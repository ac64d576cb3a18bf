/** Addresses of the warning on the home page. Its words are `warning` in i18n/<language>/home.ts. */
export const latestWarning = {
  source:
    'https://www.who.int/news/item/23-01-2023-who-urges-action-to-protect-children-from-contaminated-medicines',
  all: 'https://www.who.int/teams/regulation-prequalification/incidents-and-SF/full-list-of-who-medical-product-alerts',
};
