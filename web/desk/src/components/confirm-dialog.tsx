import { useText } from '@desk/i18n/language';
import { Button } from './button';
import { Dialog } from './dialog';

interface Props {
  title: string;
  help: string;
  action: string;
  onClose: () => void;
  onConfirm: () => void;
}

/** Asks before an action that cannot be undone. */
export function ConfirmDialog({ title, help, action, onClose, onConfirm }: Props) {
  const text = useText();
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{help}</p>
      <div className="flex justify-end gap-2">
        <Button variant="outline" onClick={onClose}>
          {text.cancel}
        </Button>
        <Button variant="henna" onClick={onConfirm}>
          {action}
        </Button>
      </div>
    </Dialog>
  );
}
