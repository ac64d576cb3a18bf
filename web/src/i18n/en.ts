import { text as about } from './en/about';
import { text as calendar } from './en/calendar';
import { text as contact } from './en/contact';
import { text as guide } from './en/guide';
import { text as home } from './en/home';
import { text as layout } from './en/layout';
import { text as learn } from './en/learn';
import { text as notFound } from './en/not-found';
import { text as offline } from './en/offline';
import { text as privacy } from './en/privacy';
import { text as receipt } from './en/receipt';
import { text as report } from './en/report';
import { text as resources } from './en/resources';
import { text as thankYou } from './en/thank-you';
import { text as unexpectedError } from './en/unexpected-error';
import { text as womensHealth } from './en/womens-health';

export const en = {
  layout,
  home,
  about,
  learn,
  guide,
  'womens-health': womensHealth,
  receipt,
  report,
  'thank-you': thankYou,
  resources,
  calendar,
  contact,
  privacy,
  'not-found': notFound,
  offline,
  'unexpected-error': unexpectedError,
};

/** English is the measure: a word that Somali lacks does not compile (see so.ts). */
export type Dictionary = typeof en;
