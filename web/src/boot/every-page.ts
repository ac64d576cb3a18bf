/*
 * What every prerendered page does without the application. It is a part of the page's only script, which is inlined in
 * the head, so that it runs before the document has arrived: live-page.ts on a page with a form or a list,
 * not-found-page.ts on a 404 page, sent-page.ts after a posted form, content-page.ts on all others.
 */
import './quick-exit';
import './share-and-alert';
import './menu';
import './service-worker';
