import { useText } from '@desk/i18n/language';
import { type ComponentProps, type MouseEvent, useContext } from 'react';
import { cn } from '@/components/cn';
import { Button as SiteButton } from '@/components/ui/button';
import { FormBusy } from './form';
import { useBusy } from './use-busy';

interface Props extends Omit<ComponentProps<typeof SiteButton>, 'onClick'> {
  onClick?: (event: MouseEvent) => unknown;
}

/**
 * The site's button, in the desk's denser size. Touch screens keep the full height. While the promise
 * of onClick is not settled, or the form of a submit button is being sent, clicks do nothing. It keeps
 * the focus then, which a disabled button would lose.
 */
export function Button({ className, onClick, children, ...props }: Props) {
  const text = useText();
  const own = useBusy();
  const form = useContext(FormBusy);
  const busy = props.type === 'submit' ? form : own.busy;
  const idle = busy === 'no';
  return (
    <SiteButton
      type="button"
      className={cn(
        'pointer-fine:min-h-9 px-3! py-1! text-sm aria-busy:cursor-progress aria-busy:opacity-60',
        className,
      )}
      aria-busy={idle ? undefined : true}
      aria-disabled={idle ? undefined : true}
      onClick={onClick && ((event) => void own.run(() => onClick(event)))}
      {...props}
    >
      {busy === 'slow' && typeof children === 'string' ? text.wait : children}
    </SiteButton>
  );
}

/** The classes of a link that looks like an outlined button. */
export const linkButton =
  'bg-card border-input hover:bg-muted inline-flex min-h-11 items-center gap-2 rounded-lg border px-3 text-sm font-semibold pointer-fine:min-h-9';
