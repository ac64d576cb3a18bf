import { ChevronDown } from 'lucide-react';
import type { ComponentProps } from 'react';
import { cn } from '@/components/cn';

const control =
  'bg-card border-input aria-invalid:border-destructive aria-invalid:border-2 w-full min-w-0 rounded-lg border px-3 py-2 placeholder:text-muted-foreground';

/** The classes of a closed select, for the button of place-field.tsx and the trigger of Radix Select. */
const selectLook = cn(control, 'flex min-h-11 cursor-pointer items-center justify-between gap-2 text-start');

function Input({ className, ...props }: ComponentProps<'input'>) {
  return <input data-slot="input" className={cn(control, 'min-h-11', className)} {...props} />;
}

function Textarea({ className, ...props }: ComponentProps<'textarea'>) {
  return <textarea data-slot="textarea" className={cn(control, className)} {...props} />;
}

/** A select of the browser with the arrow of the other lists, because browsers draw different ones. */
function NativeSelect({ className, ...props }: ComponentProps<'select'>) {
  return (
    <span className="relative block">
      <select
        data-slot="native-select"
        className={cn(control, 'min-h-11 cursor-pointer appearance-none pe-9', className)}
        {...props}
      />
      <ChevronDown
        aria-hidden
        className="text-muted-foreground pointer-events-none absolute end-3 top-1/2 size-5 -translate-y-1/2"
      />
    </span>
  );
}

export { Input, NativeSelect, selectLook, Textarea };
