import { Button } from '@desk/components/button';
import { Field } from '@desk/components/field';
import { Form } from '@desk/components/form';
import { useText } from '@desk/i18n/language';
import { useState } from 'react';
import { Input } from '@/components/ui/input';

/** Asks for the six digits of an authenticator app. */
export function CodeForm({ submit }: { submit: (code: string) => Promise<void> }) {
  const text = useText();
  const [code, setCode] = useState('');
  return (
    <Form onSubmit={() => submit(code.replace(/\s/g, ''))} className="flex flex-col gap-3">
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
      <Button type="submit" className="min-h-11!">
        {text.signIn.submitCode}
      </Button>
    </Form>
  );
}
