/* The only script of a page without a form or a list, inlined in it. It loads the application only to restore a session. */
import './every-page';
import { hasSessionToRestore } from '../backend/has-session';
import { fast } from './connection';
import { app, start } from './start-application';

if (hasSessionToRestore()) start();

// The form and the list need the application: fetch it, without starting it, when the reader points at a link to them.
if (fast)
  for (const type of ['focusin', 'pointerover'])
    addEventListener(type, ({ target }) => {
      if ((target as Element).closest?.('a[href$="/report/"],a[href$="/resources/"]'))
        import(/* @vite-ignore */ app).catch(() => {});
    });
