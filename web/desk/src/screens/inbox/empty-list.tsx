import type { Filter } from '@desk/backend/reports';
import { Button } from '@desk/components/button';
import { useText } from '@desk/i18n/language';
import { emptyReason } from './filter';

/** Says why the list is empty, and offers the way back to all reports. */
export function EmptyList({ filter, onShowAll }: { filter: Filter; onShowAll: () => void }) {
  const text = useText();
  const reason = emptyReason(filter);
  return (
    <div className="text-muted-foreground flex flex-1 flex-col items-center gap-3 px-6 py-10 text-center">
      <p>{text.inbox[reason]}</p>
      {reason !== 'none' && (
        <Button variant="outline" onClick={onShowAll}>
          {text.inbox.clearAll}
        </Button>
      )}
    </div>
  );
}
