import { useText } from '@desk/i18n/language';

/** The keys of the inbox. */
export function KeyHelp() {
  const text = useText();
  return (
    <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-2">
      {text.inbox.keyHelp.map(([keys, what]) => (
        <div key={keys} className="contents">
          <dt>
            <kbd className="bg-muted rounded px-1.5 font-mono text-sm whitespace-pre">{keys}</kbd>
          </dt>
          <dd>{what}</dd>
        </div>
      ))}
    </dl>
  );
}
