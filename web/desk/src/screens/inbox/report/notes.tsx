import { addNote, type Report } from '@desk/backend/reports';
import { useReportsChannel } from '@desk/cases/reports-channel';
import { attempt } from '@desk/components/attempt';
import { Button } from '@desk/components/button';
import { Form } from '@desk/components/form';
import { Panel } from '@desk/components/panel';
import { shortTime } from '@desk/i18n/format';
import { useLanguage } from '@desk/i18n/language';
import { useStaffNames } from '@desk/session/staff-names';
import { useDraft } from '@desk/session/use-draft';
import { Textarea } from '@/components/ui/input';

/** The notes of colleagues, in the order of their time, and a field for the next one. */
export function Notes({ report }: { report: Report }) {
  const { text, language } = useLanguage();
  const names = useStaffNames();
  const { tell } = useReportsChannel();
  const [body, setBody, drafted] = useDraft(`note:${report.reference}`, '');
  const submit = async () => {
    if (!body.trim()) return;
    const done = await attempt(text, () => addNote(report.id, body.trim()).then(() => true), text.saved);
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
              {names.get(note.author ?? '') ?? note.author_name} ·{' '}
              <time dateTime={note.created_at}>{shortTime(language, note.created_at)}</time>
            </p>
            <p className="whitespace-pre-wrap wrap-anywhere">{note.body}</p>
          </li>
        ))}
      </ul>
      {report.notes.length === 0 && !report.reviewer_notes && (
        <p className="text-muted-foreground">{text.report.noNotes}</p>
      )}
      <Form onSubmit={submit} className="no-print mt-3 flex flex-col items-start gap-2">
        <Textarea
          id="note"
          aria-label={text.report.noteLabel}
          placeholder={text.report.noteLabel}
          rows={2}
          maxLength={5000}
          value={body}
          onChange={(e) => setBody(e.target.value)}
          onKeyDown={(e) => {
            if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) e.currentTarget.form?.requestSubmit();
          }}
        />
        <div className="flex items-center gap-3">
          <Button type="submit" variant="outline" disabled={!body.trim()}>
            {text.report.addNote}
          </Button>
          <span role="status" className="text-muted-foreground text-sm">
            {drafted && text.draft}
          </span>
        </div>
      </Form>
    </Panel>
  );
}
