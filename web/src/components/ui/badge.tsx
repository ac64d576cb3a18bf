import type { ComponentProps } from 'react';
import { cn } from '@/components/cn';

function Badge({ className, ...props }: ComponentProps<'span'>) {
  return (
    <span
      data-slot="badge"
      className={cn(
        'inline-flex w-fit items-center gap-1 rounded-full px-3 py-0.5 text-sm font-semibold',
        className,
      )}
      {...props}
    />
  );
}

export { Badge };
