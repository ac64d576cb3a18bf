import { Volume2 } from 'lucide-react';
import { buttonVariants } from '@/components/ui/button';
import { useText } from '@/i18n/text';

/** A button that boot/read-aloud.ts shows where the browser has a voice of the page's language. */
export function ReadAloud() {
  const [read, stop] = useText('guide').readAloud.split('|');
  return (
    <button
      type="button"
      hidden
      data-read-aloud={stop}
      suppressHydrationWarning
      className={buttonVariants({ variant: 'outline' })}
    >
      <Volume2 aria-hidden />
      <span>{read}</span>
    </button>
  );
}
