import { expect, test } from 'vitest';
import { actorName } from './actor-name';

test.each([
  ['program', 'barnaamijka'],
  ['command line, root', 'khadka amarrada, root'],
  ['hodan@example.org', 'hodan@example.org'],
])('%s is %s', (name, shown) => {
  expect(actorName(name, { program: 'barnaamijka', 'command line': 'khadka amarrada' })).toBe(shown);
});
