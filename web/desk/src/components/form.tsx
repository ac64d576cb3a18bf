import { type ComponentProps, createContext, type FormEvent } from 'react';
import { type Busy, useBusy } from './use-busy';

/** Whether the form around a button is being sent. */
export const FormBusy = createContext<Busy>('no');

interface Props extends Omit<ComponentProps<'form'>, 'onSubmit'> {
  onSubmit: (event: FormEvent) => unknown;
}

/** A form that is sent once at a time: until the promise of onSubmit is settled, nothing sends it again. */
export function Form({ onSubmit, ...props }: Props) {
  const { busy, run } = useBusy();
  return (
    <FormBusy value={busy}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void run(() => onSubmit(event));
        }}
        {...props}
      />
    </FormBusy>
  );
}
