import { cva, type VariantProps } from 'class-variance-authority';
import type { ComponentProps } from 'react';
import { cn } from '@/components/cn';

const alertVariants = cva(
  'grid grid-cols-[auto_1fr] gap-x-3 gap-y-1 rounded-2xl border p-4 md:p-5 [&>svg]:mt-0.5 [&>svg]:size-6',
  {
    variants: {
      variant: {
        default: 'bg-primary-soft border-primary [&>svg]:text-primary',
        warning: 'bg-sun-soft border-sun [&>svg]:text-sun-ink',
        destructive: 'bg-destructive-soft border-destructive [&>svg]:text-destructive',
      },
    },
    defaultVariants: { variant: 'default' },
  },
);

/** A message in a box. Its children are an icon, AlertTitle and AlertDescription. */
function Alert({ className, variant, ...props }: ComponentProps<'div'> & VariantProps<typeof alertVariants>) {
  return <div data-slot="alert" className={cn(alertVariants({ variant }), className)} {...props} />;
}

function AlertTitle({ className, ...props }: ComponentProps<'p'>) {
  return <p data-slot="alert-title" className={cn('col-start-2 font-semibold', className)} {...props} />;
}

function AlertDescription({ className, ...props }: ComponentProps<'div'>) {
  return <div data-slot="alert-description" className={cn('col-start-2', className)} {...props} />;
}

export { Alert, AlertDescription, AlertTitle };
