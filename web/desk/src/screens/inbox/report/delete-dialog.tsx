import { deleteReport } from '@desk/backend/reports';
import { attempt } from '@desk/components/attempt';
import { Button } from '@desk/components/button';
import { Dialog } from '@desk/components/dialog';
import { Field } from '@desk/components/field';
import { Form } from '@desk/components/form';
import { useText } from '@desk/i18n/language';
import { useState } from 'react';
import { Input } from '@/components/ui/input';

interface Props {
  reference: string;
  onClose: () => void;
  onDeleted: () => void;
}

/** Asks for the reason of a deletion, which the trail keeps. */
export function DeleteDialog({ reference, onClose, onDeleted }: Props) {
  const text = useText();
  const [reason, setReason] = useState('');
  const submit = async () => {
    const done = await attempt(
      text,
      () => deleteReport(reference, reason).then(() => true),
      text.report.removed(reference),
    );
    if (done) onDeleted();
  };
  return (
    <Dialog title={text.report.removeTitle(reference)} onClose={onClose}>
      <p>{text.report.removeHelp}</p>
      <Form onSubmit={submit} className="flex flex-col gap-4">
        <Field label={text.report.reason}>
          {(props) => (
            <Input
              {...props}
              required
              minLength={3}
              maxLength={500}
              value={reason}
              onChange={(e) => setReason(e.target.value)}
            />
          )}
        </Field>
        <div className="flex justify-end gap-2">
          <Button variant="outline" onClick={onClose}>
            {text.cancel}
          </Button>
          <Button type="submit" variant="henna">
            {text.report.remove}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}
