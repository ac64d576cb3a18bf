import type { ReactElement } from 'react';
import type { Step } from './submit-report';

export interface Progress {
  step: Step;
  /** The sent share of the photo, 0 to 1. */
  share?: number;
}

/**
 * State of the report that is being sent. It outlives the form, because the reader may leave the page and return before
 * the report has arrived.
 */
export interface Delivery {
  progress?: Progress;
  /** Stops sending. */
  cancel?: () => void;
  /** The receipt, until the page has shown it. */
  receipt?: ReactElement;
}

export type DeliveryAction =
  | { type: 'started'; cancel: () => void }
  | { type: 'progressed'; progress: Progress }
  | { type: 'delivered'; receipt: ReactElement }
  | { type: 'ended' }
  | { type: 'receiptShown' };

export function reduceDelivery(delivery: Delivery, action: DeliveryAction): Delivery {
  switch (action.type) {
    case 'started':
      return { ...delivery, cancel: action.cancel };
    case 'progressed':
      return { ...delivery, progress: action.progress };
    case 'delivered':
      return { ...delivery, receipt: action.receipt };
    case 'ended':
      return { ...delivery, progress: undefined, cancel: undefined };
    case 'receiptShown':
      return { ...delivery, receipt: undefined };
  }
}
