import { Button } from '@desk/components/button';
import { Field } from '@desk/components/field';
import { useText } from '@desk/i18n/language';
import { type FormEvent, useState } from 'react';
import { Input } from '@/components/ui/input';

/** Asks for the six digits of an authenticator app. */
export function CodeForm({ submit }: { submit: (code: string) => Promise<void> }) {
  const text = useText();
  const [code, setCode] = useState('');
  const [busy, setBusy] = useState(false);
  const send = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    await submit(code.replace(/\s/g, ''));
    setBusy(false);
  };
  return (
    <form onSubmit={send} className="flex flex-col gap-3">
      <Field label={text.signIn.digits}>
        {(props) => (
          <Input
            {...props}
            required
            inputMode="numeric"
            autoComplete="one-time-code"
            pattern="[0-9 ]{6,7}"
            value={code}
            onChange={(e) => setCode(e.target.value)}
          />
        )}
      </Field>
      <Button type="submit" disabled={busy} className="min-h-11!">
        {text.signIn.submitCode}
      </Button>
    </form>
  );
}
