// @vitest-environment jsdom
import type { Filter } from '@desk/backend/reports';
import { renderDesk } from '@desk/testing';
import { fireEvent, screen } from '@testing-library/react';
import { useState } from 'react';
import { expect, test } from 'vitest';
import { MoreFilters } from './more-filters';

function Filters() {
  const [filter, setFilter] = useState<Filter>({ product: 'Panadol' });
  return (
    <>
      <MoreFilters filter={filter} onChange={setFilter} />
      <output>{filter.product ?? 'none'}</output>
    </>
  );
}

test('clearing the filters empties the product, and leaving its field does not bring it back', () => {
  renderDesk(<Filters />);
  const product = screen.getByLabelText('Product') as HTMLInputElement;
  fireEvent.click(screen.getByText('Clear filters'));
  expect(product.value).toBe('');
  fireEvent.blur(product);
  expect(screen.getByRole('status').textContent).toBe('none');
  fireEvent.change(product, { target: { value: ' Amoxil ' } });
  fireEvent.keyDown(product, { key: 'Enter' });
  expect(screen.getByRole('status').textContent).toBe('Amoxil');
});
