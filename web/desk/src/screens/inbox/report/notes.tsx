import { addNote, type Report } from '@desk/backend/reports';
import { useReportsChannel } from '@desk/cases/reports-channel';
import { attempt } from '@desk/components/attempt';
import { Button } from '@desk/components/button';
import { Panel } from '@desk/components/panel';
import { shortTime } from '@desk/i18n/format';
import { useLanguage } from '@desk/i18n/language';
import { useDraft } from '@desk/session/use-draft';
import { type FormEvent, useState } from 'react';
import { Textarea } from '@/components/ui/input';

/** The notes of colleagues, in the order of their time, and a field for the next one. */
export function Notes({ report }: { report: Report }) {
  const { text, language } = useLanguage();
  const { tell } = useReportsChannel();
  const [body, setBody, drafted] = useDraft(`note:${report.reference}`, '');
  const [busy, setBusy] = useState(false);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (!body.trim() || busy) return;
    setBusy(true);
    const done = await attempt(text, () => addNote(report.id, body.trim()).then(() => true), text.saved);
    setBusy(false);
    if (done) {
      setBody('');
      tell();
    }
  };
  return (
    <Panel title={text.report.thread}>
      <ul className="flex flex-col gap-3">
        {report.reviewer_notes && (
          <li className="border-s-2 ps-3">
            <p className="text-muted-foreground text-xs">{text.report.earlier}</p>
            <p className="whitespace-pre-wrap wrap-anywhere">{report.reviewer_notes}</p>
          </li>
        )}
        {report.notes.map((note) => (
          <li key={note.id} className="border-s-2 ps-3">
            <p className="text-muted-foreground text-xs">
              {note.author_name} ·{' '}
              <time dateTime={note.created_at}>{shortTime(language, note.created_at)}</time>
            </p>
            <p className="whitespace-pre-wrap wrap-anywhere">{note.body}</p>
          </li>
        ))}
      </ul>
      {report.notes.length === 0 && !report.reviewer_notes && (
        <p className="text-muted-foreground">{text.report.noNotes}</p>
      )}
      <form onSubmit={submit} className="no-print mt-3 flex flex-col items-start gap-2">
        <Textarea
          id="note"
          aria-label={text.report.noteLabel}
          placeholder={text.report.noteLabel}
          rows={2}
          maxLength={5000}
          value={body}
          onChange={(e) => setBody(e.target.value)}
          onKeyDown={(e) => {
            if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) void submit(e);
          }}
        />
        <div className="flex items-center gap-3">
          <Button type="submit" variant="outline" disabled={busy || !body.trim()}>
            {text.report.addNote}
          </Button>
          <span role="status" className="text-muted-foreground text-sm">
            {drafted && text.draft}
          </span>
        </div>
      </form>
    </Panel>
  );
}
