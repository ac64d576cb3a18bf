import { useText } from '@desk/i18n/language';
import { Button } from './button';
import { message } from './message';

/** An error, and a button that tries again. */
export function Failure({ error, retry }: { error: unknown; retry?: () => unknown }) {
  const text = useText();
  return (
    <div
      role="alert"
      className="bg-destructive-soft text-destructive flex flex-wrap items-center gap-3 rounded-lg p-3"
    >
      <span>{text.failed(message(error, text))}</span>
      {retry && (
        <Button variant="outline" onClick={retry}>
          {text.retry}
        </Button>
      )}
    </div>
  );
}
