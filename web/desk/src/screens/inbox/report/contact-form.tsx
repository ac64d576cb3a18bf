import { logContact } from '@desk/backend/contacts';
import type { Report } from '@desk/backend/reports';
import { useReportsChannel } from '@desk/cases/reports-channel';
import { attempt } from '@desk/components/attempt';
import { Button } from '@desk/components/button';
import { dense, Field } from '@desk/components/field';
import { Form } from '@desk/components/form';
import { useText } from '@desk/i18n/language';
import type { Template } from '@desk/i18n/message-templates';
import { type Channel, type ContactOutcome, channels, contactOutcomes } from '@desk/lib/contact';
import { NativeSelect, Textarea } from '@/components/ui/input';

/** A call or a message that is not in the log yet. */
export interface Entry {
  channel: Channel;
  outcome: ContactOutcome;
  body: string;
}

interface Props {
  report: Report;
  template: Template | undefined; // of the message that was written just now
  entry: Entry | null; // null until the member changes something
  onChange: (entry: Entry) => void;
  onDone: () => void;
}

const firstEntry = { channel: 'call', outcome: 'reached' } as const;

/** Logs a call or a message with its outcome. */
export function ContactForm({ report, template, entry, onChange, onDone }: Props) {
  const text = useText();
  const { tell } = useReportsChannel();
  const first = template ? ({ channel: 'whatsapp', outcome: 'sent' } as const) : firstEntry;
  const { channel, outcome, body } = entry ?? { ...first, body: '' };
  const set = (change: Partial<Entry>) => onChange({ channel, outcome, body, ...change });
  const submit = async () => {
    const contact = { channel, outcome, template: template ?? null, body: body.trim() || null };
    const done = await attempt(text, () => logContact(report.id, contact).then(() => true), text.saved);
    if (!done) return;
    tell();
    onDone();
  };
  return (
    <Form onSubmit={submit} className="no-print mt-3 flex flex-col gap-3 border-t pt-3">
      <div className="flex flex-wrap gap-3">
        <Field label={text.contact.channel} className="min-w-36 flex-1">
          {(props) => (
            <NativeSelect
              {...props}
              className={dense}
              value={channel}
              onChange={(e) => set({ channel: e.target.value as Channel })}
            >
              {channels.map((name) => (
                <option key={name} value={name}>
                  {text.contact.channels[name]}
                </option>
              ))}
            </NativeSelect>
          )}
        </Field>
        <Field label={text.contact.outcome} className="min-w-36 flex-1">
          {(props) => (
            <NativeSelect
              {...props}
              className={dense}
              value={outcome}
              onChange={(e) => set({ outcome: e.target.value as ContactOutcome })}
            >
              {contactOutcomes.map((name) => (
                <option key={name} value={name}>
                  {text.contact.outcomes[name]}
                </option>
              ))}
            </NativeSelect>
          )}
        </Field>
      </div>
      <Field label={text.contact.said}>
        {(props) => (
          <Textarea
            {...props}
            rows={2}
            maxLength={2000}
            value={body}
            onChange={(e) => set({ body: e.target.value })}
          />
        )}
      </Field>
      <Button type="submit" className="self-start">
        {text.contact.save}
      </Button>
    </Form>
  );
}
