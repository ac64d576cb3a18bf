import { whenIdle } from './connection';

addEventListener('load', () => whenIdle(() => keepForOffline().catch(() => {})));

/**
 * Registers the service worker of the page's language (offline/service-worker.ts). The worker of Somali pages does not
 * control /, to which their language switch leads: a reader without the English worker gets a small one for that.
 */
async function keepForOffline() {
  if (!navigator.onLine) return;
  const workers = navigator.serviceWorker;
  const somali = document.documentElement.lang === 'so';
  await workers?.register(somali ? '/so/sw.js' : '/sw.js');
  if (somali && !(await workers?.getRegistration('/'))) await workers?.register('/sw.js?few');
}
