// @vitest-environment jsdom
import { renderDesk } from '@desk/testing';
import { screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import { LookFields } from './look-fields';
import { valuesOf } from './values';

test.each([
  [null, 1],
  ['pain', 0],
])('with the guide %s there are %d boxes that feature the resource', (guide, count) => {
  renderDesk(<LookFields values={{ ...valuesOf(undefined), guide }} set={() => {}} />, 'editor');
  expect(screen.queryAllByLabelText(/^Featured/)).toHaveLength(count);
});
