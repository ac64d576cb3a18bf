import type { Change } from '@desk/backend/change-reports';
import { Button } from '@desk/components/button';
import { Dialog } from '@desk/components/dialog';
import { shortTime } from '@desk/i18n/format';
import { useLanguage } from '@desk/i18n/language';
import { useStaffNames } from '@desk/session/staff-names';
import type { Conflict } from './changes';
import { stateWord } from './state-word';

interface Props {
  conflict: Conflict;
  onClose: () => void;
  onInsist: () => void;
}

/** Shows the values that a colleague has set beside those that the person wanted to set. */
export function ConflictDialog({ conflict: { reference, set, outcome }, onClose, onInsist }: Props) {
  const { text, language } = useLanguage();
  const names = useStaffNames();
  const { by, state } = outcome;
  const who = by ? (names.get(by.id ?? '') ?? by.name) : text.unknown;
  const word = (name: keyof Change, values: Change) => stateWord(name, values[name], text, language, names);
  return (
    <Dialog title={text.conflict.title(reference)} onClose={onClose}>
      <p>{text.conflict.help(who, by ? shortTime(language, by.at) : '')}</p>
      <table className="w-full text-sm">
        <thead>
          <tr className="text-muted-foreground border-b">
            <td />
            {[text.conflict.theirs, text.conflict.mine].map((name) => (
              <th key={name} scope="col" className="p-1.5 text-start font-normal">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {(Object.keys(set) as (keyof Change)[]).map((name) => (
            <tr key={name} className="border-b">
              <th scope="row" className="p-1.5 text-start font-normal">
                {text.conflict.fields[name]}
              </th>
              <td className="p-1.5">{word(name, state)}</td>
              <td className="p-1.5">{word(name, set)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <div className="flex flex-wrap justify-end gap-2">
        <Button variant="outline" onClick={onInsist}>
          {text.conflict.insist}
        </Button>
        <Button onClick={onClose}>{text.conflict.keep}</Button>
      </div>
    </Dialog>
  );
}
