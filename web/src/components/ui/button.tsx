import type { ComponentProps } from 'react';
import { cn } from '@/components/cn';

const base =
  'inline-flex min-h-11 cursor-pointer items-center justify-center gap-2 rounded-lg text-center font-semibold motion-safe:transition-colors disabled:cursor-default disabled:opacity-60 [&_svg]:size-5 [&_svg]:shrink-0';

const variants = {
  default: 'bg-primary text-primary-foreground hover:bg-primary-deep',
  henna: 'bg-henna text-background hover:bg-foreground',
  outline: 'border border-input bg-card hover:bg-muted',
  ghost: 'hover:bg-muted',
  link: 'text-primary underline underline-offset-4 hover:no-underline',
};

const sizes = {
  default: 'px-5 py-2',
  lg: 'px-7 py-3 text-lg',
  icon: 'size-11',
};

interface ButtonLook {
  variant?: keyof typeof variants;
  size?: keyof typeof sizes;
  className?: string;
}

/** A button's classes, for links that look like one. */
function buttonVariants({ variant = 'default', size = 'default', className }: ButtonLook = {}) {
  return cn(base, variants[variant], sizes[size], className);
}

function Button({ variant, size, className, ...props }: ComponentProps<'button'> & ButtonLook) {
  return <button data-slot="button" className={buttonVariants({ variant, size, className })} {...props} />;
}

export { Button, buttonVariants };
