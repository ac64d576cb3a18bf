import { text as account } from './en/account';
import { text as checks } from './en/checks';
import { text as clusters } from './en/clusters';
import { text as common } from './en/common';
import { text as contact } from './en/contact';
import { text as figures } from './en/figures';
import { text as forward } from './en/forward';
import { text as guides } from './en/guides';
import { text as inbox } from './en/inbox';
import { text as report } from './en/report';
import { text as resources } from './en/resources';
import { text as signIn } from './en/sign-in';
import { text as staff } from './en/staff';
import { text as system } from './en/system';
import { text as trail } from './en/trail';

export const en = {
  ...common,
  signIn,
  inbox,
  report,
  contact,
  clusters,
  forward,
  resources,
  guides,
  figures,
  staff,
  trail,
  system,
  checks,
  account,
};

/** English is the measure: a word that Somali lacks does not compile (see so.ts). */
export type Text = typeof en;
