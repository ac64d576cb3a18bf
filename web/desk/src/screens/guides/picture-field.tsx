import { storePreview } from '@desk/backend/resources';
import { Button } from '@desk/components/button';
import { message } from '@desk/components/message';
import { Problem } from '@desk/components/problem';
import { useText } from '@desk/i18n/language';
import { fileKind } from '@desk/lib/file-kind';
import { middleOf } from '@desk/lib/first-page';
import { useEffect, useRef, useState } from 'react';

const kinds = ['image/jpeg', 'image/png', 'image/gif'];

interface Props {
  picture: string | null;
  onChange: (picture: string | null) => void;
}

/** The picture of a guide, stored as small as its card shows it. Without one the card draws its own. */
export function PictureField({ picture, onChange }: Props) {
  const text = useText();
  const input = useRef<HTMLInputElement>(null);
  const [error, setError] = useState('');
  const [busy, setBusy] = useState(false);
  const left = useRef(false);
  useEffect(() => {
    left.current = false;
    return () => {
      left.current = true;
    };
  }, []);
  const take = async (chosen: File | undefined) => {
    if (!chosen) return;
    setError('');
    const type = await fileKind(chosen);
    if (!kinds.includes(type)) return setError(text.resources.wrongType);
    setBusy(true);
    try {
      const address = await storePreview(chosen.name, await middleOf(chosen));
      if (!left.current) onChange(address);
    } catch (failure) {
      setError(text.failed(message(failure, text)));
    }
    setBusy(false);
  };
  return (
    <div className="flex flex-col gap-1">
      <span className="text-muted-foreground text-sm">{text.guides.picture}</span>
      <div className="flex flex-wrap items-center gap-2">
        {picture && <img src={picture} alt={text.guides.picture} className="size-12 rounded object-cover" />}
        <input
          ref={input}
          type="file"
          className="sr-only"
          tabIndex={-1}
          aria-label={text.guides.picture}
          accept={kinds.join(',')}
          onChange={(e) => {
            void take(e.target.files?.[0]);
            e.target.value = ''; // the same file may be chosen again
          }}
        />
        <Button variant="outline" disabled={busy} onClick={() => input.current?.click()}>
          {text.guides.choosePicture}
        </Button>
        {picture && (
          <Button variant="ghost" onClick={() => onChange(null)}>
            {text.guides.noPicture}
          </Button>
        )}
      </div>
      <Problem text={error} />
    </div>
  );
}
