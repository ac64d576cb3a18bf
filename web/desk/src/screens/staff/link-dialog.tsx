import { attempt } from '@desk/components/attempt';
import { Button } from '@desk/components/button';
import { Dialog } from '@desk/components/dialog';
import { Field } from '@desk/components/field';
import { useText } from '@desk/i18n/language';
import { Input } from '@/components/ui/input';

interface Props {
  name: string;
  link: string;
  onClose: () => void;
}

/** Shows the link of an invitation, which is made only once. A browser may refuse to copy it. */
export function LinkDialog({ name, link, onClose }: Props) {
  const text = useText();
  return (
    <Dialog title={text.staff.linkTitle(name)} onClose={onClose}>
      <p>{text.staff.linkHelp}</p>
      <Field label={text.staff.link}>
        {(props) => <Input {...props} readOnly value={link} onFocus={(e) => e.target.select()} />}
      </Field>
      <div className="flex justify-end gap-2">
        <Button variant="outline" onClick={onClose}>
          {text.close}
        </Button>
        <Button onClick={() => attempt(text, () => navigator.clipboard.writeText(link), text.contact.copied)}>
          {text.contact.copy}
        </Button>
      </div>
    </Dialog>
  );
}
