import { recordNotice } from '@desk/backend/notices';
import type { Report } from '@desk/backend/reports';
import { attempt } from '@desk/components/attempt';
import { Button } from '@desk/components/button';
import { dense, Field } from '@desk/components/field';
import { Form } from '@desk/components/form';
import { Panel } from '@desk/components/panel';
import { useText } from '@desk/i18n/language';
import { today } from '@desk/lib/local-day';
import { type NoticeChannel, noticeChannels } from '@desk/lib/notice';
import { useState } from 'react';
import { Input, NativeSelect } from '@/components/ui/input';

interface Props {
  report: Report;
  recipient: string;
  onRecipient: (name: string) => void;
  onDone: () => void;
}

/** Records that a notice went to an authority, and how. The member has sent it; the desk does not. */
export function RecordNotice({ report, recipient, onRecipient, onDone }: Props) {
  const text = useText();
  const [channel, setChannel] = useState<NoticeChannel>('mail');
  const [day, setDay] = useState(today());
  const [receipt, setReceipt] = useState('');
  const submit = async () => {
    const notice = { recipient: recipient.trim(), channel, sent_on: day, receipt: receipt.trim() || null };
    const done = await attempt(text, () => recordNotice(report.id, notice).then(() => true), text.saved);
    if (!done) return;
    setReceipt('');
    onDone();
  };
  return (
    <Panel title={text.forward.record} className="no-print">
      <Form onSubmit={submit} className="grid gap-3 sm:grid-cols-2">
        <Field label={text.forward.recipient}>
          {(props) => (
            <Input
              {...props}
              required
              maxLength={200}
              className={dense}
              value={recipient}
              onChange={(e) => onRecipient(e.target.value)}
            />
          )}
        </Field>
        <Field label={text.forward.channel}>
          {(props) => (
            <NativeSelect
              {...props}
              className={dense}
              value={channel}
              onChange={(e) => setChannel(e.target.value as NoticeChannel)}
            >
              {noticeChannels.map((name) => (
                <option key={name} value={name}>
                  {text.forward.channels[name]}
                </option>
              ))}
            </NativeSelect>
          )}
        </Field>
        <Field label={text.forward.sentOn}>
          {(props) => (
            <Input
              {...props}
              type="date"
              required
              max={today()}
              className={dense}
              value={day}
              onChange={(e) => setDay(e.target.value)}
            />
          )}
        </Field>
        <Field label={text.forward.receipt}>
          {(props) => (
            <Input
              {...props}
              maxLength={100}
              className={dense}
              value={receipt}
              onChange={(e) => setReceipt(e.target.value)}
            />
          )}
        </Field>
        <Button type="submit" className="justify-self-start">
          {text.forward.recordIt}
        </Button>
      </Form>
    </Panel>
  );
}
