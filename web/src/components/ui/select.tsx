import { Check, ChevronDown } from 'lucide-react';
import { Select as SelectPrimitive } from 'radix-ui';
import type { ComponentProps } from 'react';
import { cn } from '@/components/cn';
import { selectLook } from './input';

const Select = SelectPrimitive.Root;
const SelectValue = SelectPrimitive.Value;

function SelectTrigger({ className, children, ...props }: ComponentProps<typeof SelectPrimitive.Trigger>) {
  return (
    <SelectPrimitive.Trigger data-slot="select-trigger" className={cn(selectLook, className)} {...props}>
      {children}
      <ChevronDown aria-hidden className="text-muted-foreground size-5 shrink-0" />
    </SelectPrimitive.Trigger>
  );
}

function SelectContent({ className, children, ...props }: ComponentProps<typeof SelectPrimitive.Content>) {
  return (
    <SelectPrimitive.Portal>
      <SelectPrimitive.Content
        data-slot="select-content"
        position="popper"
        sideOffset={4}
        className={cn(
          'bg-popover text-popover-foreground z-50 max-h-60 w-(--radix-select-trigger-width) overflow-hidden rounded-lg border raised',
          className,
        )}
        {...props}
      >
        <SelectPrimitive.Viewport className="max-h-60 overflow-y-auto p-1">
          {children}
        </SelectPrimitive.Viewport>
      </SelectPrimitive.Content>
    </SelectPrimitive.Portal>
  );
}

function SelectItem({ className, children, ...props }: ComponentProps<typeof SelectPrimitive.Item>) {
  return (
    <SelectPrimitive.Item
      data-slot="select-item"
      tabIndex={0} // a list that scrolls must have content that a keyboard reaches; Radix handles Tab itself
      className={cn(
        'data-highlighted:bg-primary-soft flex min-h-11 cursor-pointer items-center justify-between gap-2 rounded-md px-3 py-2 -outline-offset-3',
        className,
      )}
      {...props}
    >
      <SelectPrimitive.ItemText>{children}</SelectPrimitive.ItemText>
      <SelectPrimitive.ItemIndicator>
        <Check aria-hidden className="size-4" />
      </SelectPrimitive.ItemIndicator>
    </SelectPrimitive.Item>
  );
}

export { Select, SelectContent, SelectItem, SelectTrigger, SelectValue };
