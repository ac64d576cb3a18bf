import type { Text } from './en';
import { text as account } from './so/account';
import { text as checks } from './so/checks';
import { text as clusters } from './so/clusters';
import { text as common } from './so/common';
import { text as contact } from './so/contact';
import { text as figures } from './so/figures';
import { text as forward } from './so/forward';
import { text as guides } from './so/guides';
import { text as inbox } from './so/inbox';
import { text as report } from './so/report';
import { text as resources } from './so/resources';
import { text as signIn } from './so/sign-in';
import { text as staff } from './so/staff';
import { text as system } from './so/system';
import { text as trail } from './so/trail';

export const so: Text = {
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
