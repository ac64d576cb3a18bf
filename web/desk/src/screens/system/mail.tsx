import { useText } from '@desk/i18n/language';
import { Operation } from './operation';

/** Sends a test message by each channel of notices. */
export function Mail() {
  const text = useText();
  return (
    <Operation<Record<string, string>>
      title={text.system.mail}
      name="mail-test"
      label={text.system.testMail}
      idle={<p className="text-muted-foreground">{text.system.mailHelp}</p>}
    >
      {(channels) => (
        <ul className="text-sm">
          {Object.entries(channels).map(([channel, failure]) => (
            <li key={channel}>
              {channel}:{' '}
              {failure ? (
                <span className="text-destructive">{failure}</span>
              ) : (
                <span className="text-done">{text.system.mailDone}</span>
              )}
            </li>
          ))}
        </ul>
      )}
    </Operation>
  );
}
