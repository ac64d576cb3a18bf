import { createElement } from 'react';
import { expect, test } from 'vitest';
import { createStore } from '@/lib/store';
import { type Delivery, type DeliveryAction, reduceDelivery } from './delivery';
import { emptyForm, reduceForm } from './form-state';

test('a reset empties the form and remounts its fields', () => {
  const photo = new File(['a'], 'a.jpg');
  let state = reduceForm(emptyForm, { type: 'locationChosen', location: 'Bari' });
  state = reduceForm(state, { type: 'photoChosen', photo });
  state = reduceForm(state, { type: 'checked', wrong: ['phone'], tooLong: false });
  expect(state).toEqual({
    location: 'Bari',
    photo,
    wrong: ['phone'],
    asks: false,
    tooLong: false,
    attempts: 1,
    generation: 0,
  });
  expect(reduceForm(state, { type: 'reset' })).toEqual({ ...emptyForm, generation: 1 });
});

test('a receipt stays until it is shown', () => {
  const store = createStore<Delivery, DeliveryAction>(reduceDelivery, {});
  const receipt = createElement('p');
  store.dispatch({ type: 'progressed', progress: { step: 'sending' } });
  expect(store.state().progress?.step).toBe('sending');
  store.dispatch({ type: 'delivered', receipt });
  store.dispatch({ type: 'ended' });
  expect(store.state()).toEqual({ receipt, progress: undefined });
  store.dispatch({ type: 'receiptShown' });
  expect(store.state().receipt).toBeUndefined();
});
