import type { ComponentProps } from 'react';

/** A bar in the primary colour. Browsers draw it green and grey if it has a border, and the reset sets one. */
export function ProgressBar(props: ComponentProps<'progress'>) {
  return <progress className="accent-primary w-full [border:revert]" {...props} />;
}
