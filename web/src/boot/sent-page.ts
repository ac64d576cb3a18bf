/* The only script of the page after a posted form, inlined in it. */
import './content-page';
import { deleteDraft } from './stored-draft';

if (location.hash === '#sent') {
  // Not when the reader returns to the page: there may be a new draft. (performance.getEntriesByType is newer.)
  if (!performance.navigation?.type) deleteDraft();
  // A page from the back/forward cache shows no reference.
  addEventListener('pagehide', () => document.querySelector('iframe')?.remove());
}
