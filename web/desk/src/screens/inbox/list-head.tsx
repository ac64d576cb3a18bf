import { useColleagues } from '@desk/cases/use-colleagues';
import { Button } from '@desk/components/button';
import { useText } from '@desk/i18n/language';
import { Keyboard, RefreshCw } from 'lucide-react';
import { cn } from '@/components/cn';
import type { Inbox } from './use-inbox';

interface Props {
  inbox: Inbox;
  onHelp: () => void;
  onRefresh: () => void;
}

export function ListHead({ inbox, onHelp, onRefresh }: Props) {
  const text = useText();
  return (
    <div className="flex items-center gap-2 border-b px-3 py-1.5">
      <h1 className="flex-1 text-lg">{text.inbox.title}</h1>
      <Colleagues />
      <LiveMark live={inbox.live} />
      <Button variant="ghost" aria-label={text.inbox.keys} onClick={onHelp} className="max-lg:hidden">
        <Keyboard aria-hidden="true" className="size-4.5!" />
      </Button>
      <Button variant="ghost" aria-label={text.refresh} aria-busy={inbox.loading} onClick={onRefresh}>
        <RefreshCw
          aria-hidden="true"
          className={cn('size-4.5!', inbox.loading && 'motion-safe:animate-spin')}
        />
      </Button>
    </div>
  );
}

/** Who else is at the desk. */
function Colleagues() {
  const text = useText();
  const names = useColleagues();
  if (names.length === 0) return null;
  return (
    <span
      className="text-muted-foreground max-w-40 truncate text-xs"
      title={text.inbox.here(names.join(', '))}
    >
      {text.inbox.here(names.join(', '))}
    </span>
  );
}

function LiveMark({ live }: { live: boolean }) {
  const text = useText();
  const label = live ? text.inbox.live : text.inbox.notLive;
  return (
    <span
      role="img"
      aria-label={label}
      title={label}
      className={cn('size-2 rounded-full', live ? 'bg-done' : 'border-input border')}
    />
  );
}
