import type { Dictionary } from './en';
import { text as about } from './so/about';
import { text as calendar } from './so/calendar';
import { text as contact } from './so/contact';
import { text as guide } from './so/guide';
import { text as home } from './so/home';
import { text as layout } from './so/layout';
import { text as learn } from './so/learn';
import { text as notFound } from './so/not-found';
import { text as offline } from './so/offline';
import { text as privacy } from './so/privacy';
import { text as receipt } from './so/receipt';
import { text as report } from './so/report';
import { text as resources } from './so/resources';
import { text as thankYou } from './so/thank-you';
import { text as unexpectedError } from './so/unexpected-error';
import { text as womensHealth } from './so/womens-health';

export const so = {
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
} satisfies Dictionary;
