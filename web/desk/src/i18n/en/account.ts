export const text = {
  title: 'Account',
  until: 'This session ends',
  password: 'Change the password',
  factors: 'Second step',
  app: 'Authenticator app',
  passkey: 'Passkey',
  addApp: 'Add an authenticator app',
  addPasskey: 'Add a passkey',
  remove: 'Remove',
  noFactor: 'None yet. On a public address it is required.',
  everywhere: 'Sign out everywhere',
  everywhereHelp: 'Ends this and all your other sessions, for example after you have lost a phone.',
};
