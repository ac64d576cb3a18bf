import { cva, type VariantProps } from 'class-variance-authority';
import type { ComponentProps } from 'react';
import { cn } from '@/components/cn';

/** The classes of a button, also for links that look like buttons. */
const buttonVariants = cva(
  'inline-flex min-h-11 cursor-pointer items-center justify-center gap-2 rounded-lg text-center font-semibold text-balance motion-safe:transition-colors disabled:cursor-default disabled:opacity-60 [&_svg]:size-5 [&_svg]:shrink-0',
  {
    variants: {
      variant: {
        default: 'bg-primary text-primary-foreground hover:bg-primary-deep',
        henna: 'bg-henna text-background hover:bg-foreground',
        outline: 'border border-input bg-card hover:bg-muted',
        ghost: 'hover:bg-muted',
        link: 'text-primary underline underline-offset-4 hover:no-underline',
      },
      size: {
        default: 'px-5 py-2',
        lg: 'px-7 py-3 text-lg',
        icon: 'size-11',
        tile: 'min-h-14 flex-col px-2 py-1',
      },
    },
    defaultVariants: { variant: 'default', size: 'default' },
  },
);

function Button({
  variant,
  size,
  className,
  ...props
}: ComponentProps<'button'> & VariantProps<typeof buttonVariants>) {
  return (
    <button data-slot="button" className={cn(buttonVariants({ variant, size, className }))} {...props} />
  );
}

export { Button, buttonVariants };
