/* The only script of a page without a form or a list, inlined in it. It does not load the application. */
import './every-page';
import { fast } from './connection';
import { app } from './start-application';

// The form and the list need the application: fetch it, without starting it, when the reader points at a link to them.
if (fast)
  for (const type of ['focusin', 'pointerover'])
    addEventListener(type, ({ target }) => {
      if ((target as Element).closest?.('a[href$="/report/"],a[href$="/resources/"]'))
        import(/* @vite-ignore */ app).catch(() => {});
    });
