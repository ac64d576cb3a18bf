import type { Contact } from '@desk/backend/contacts';
import type { Report } from '@desk/backend/reports';
import { Button } from '@desk/components/button';
import { Panel } from '@desk/components/panel';
import { shortTime } from '@desk/i18n/format';
import { useLanguage } from '@desk/i18n/language';
import { useStaffNames } from '@desk/session/staff-names';
import { useDraft } from '@desk/session/use-draft';
import { useState } from 'react';
import { ContactForm, type Entry } from './contact-form';
import { type Message, MessageWriter } from './message-writer';

/** Messages to the person, and the log of calls and messages. Members send them; the desk does not. */
export function Contacts({ report }: { report: Report }) {
  const { text } = useLanguage();
  const [message, setMessage] = useDraft<Message | null>(`message:${report.reference}`, null);
  const [entry, setEntry, begun] = useDraft<Entry | null>(`contact:${report.reference}`, null);
  const [writing, setWriting] = useState(Boolean(message?.body));
  const [logging, setLogging] = useState(begun);
  const number = report.phone_e164;
  return (
    <Panel title={text.contact.title}>
      {report.contacts.length > 0 ? (
        <ul className="flex flex-col gap-3">
          {report.contacts.map((contact) => (
            <Line key={contact.id} contact={contact} />
          ))}
        </ul>
      ) : (
        <p className="text-muted-foreground">{number ? text.contact.none : text.contact.noNumber}</p>
      )}
      <div className="no-print mt-3 flex flex-wrap gap-2">
        {number && (
          <Button variant="outline" aria-expanded={writing} onClick={() => setWriting(!writing)}>
            {text.contact.write}
          </Button>
        )}
        <Button variant="outline" aria-expanded={logging} onClick={() => setLogging(!logging)}>
          {text.contact.log}
        </Button>
      </div>
      {writing && number && (
        <MessageWriter report={report} number={number} message={message} onChange={setMessage} />
      )}
      {logging && (
        <ContactForm
          report={report}
          template={(writing && message?.template) || undefined}
          entry={entry}
          onChange={setEntry}
          onDone={() => {
            setLogging(false);
            setWriting(false);
            setMessage(null);
            setEntry(null);
          }}
        />
      )}
    </Panel>
  );
}

function Line({ contact }: { contact: Contact }) {
  const { text, language } = useLanguage();
  const names = useStaffNames();
  return (
    <li className="border-s-2 ps-3">
      <p className="text-muted-foreground text-xs">
        {names.get(contact.author ?? '') ?? contact.author_name} ·{' '}
        <time dateTime={contact.created_at}>{shortTime(language, contact.created_at)}</time>
      </p>
      <p>
        {text.contact.channels[contact.channel]}: {text.contact.outcomes[contact.outcome]}
      </p>
      {contact.body && <p className="whitespace-pre-wrap wrap-anywhere">{contact.body}</p>}
    </li>
  );
}
