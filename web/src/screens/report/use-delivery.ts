import { type ReactElement, useEffect, useState, useSyncExternalStore } from 'react';
import { flushSync } from 'react-dom';
import { useKept } from '@/components/use-kept';
import { createStore } from '@/lib/store';
import { type Delivery, type DeliveryAction, reduceDelivery } from './delivery';

/** Returns the delivery of this document and the store that holds it. */
export function useDelivery() {
  const store = useKept('report-delivery', () => createStore<Delivery, DeliveryAction>(reduceDelivery, {}));
  const delivery = useSyncExternalStore(store.subscribe, store.state, store.state);
  return { delivery, store };
}

/**
 * Returns the receipt of the last report. One that arrived while the reader was on another page is shown once. It is
 * removed before the browser may put the page into its back/forward cache, where the next user of the device finds it.
 */
export function useReceipt(): ReactElement | undefined {
  const { delivery, store } = useDelivery();
  const [shown, setShown] = useState<ReactElement>();
  useEffect(() => {
    if (!delivery.receipt) return;
    setShown(delivery.receipt);
    store.dispatch({ type: 'receiptShown' });
  }, [delivery.receipt, store]);
  useEffect(() => {
    const forget = () => flushSync(() => setShown(undefined));
    addEventListener('pagehide', forget);
    return () => removeEventListener('pagehide', forget);
  }, []);
  return shown;
}
