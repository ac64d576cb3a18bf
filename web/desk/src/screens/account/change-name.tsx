import { setName } from '@desk/backend/session';
import { attempt } from '@desk/components/attempt';
import { Button } from '@desk/components/button';
import { Field } from '@desk/components/field';
import { Form } from '@desk/components/form';
import { useText } from '@desk/i18n/language';
import { useAccess } from '@desk/session/access';
import { useState } from 'react';
import { Input } from '@/components/ui/input';

/** The name that colleagues see. */
export function ChangeName() {
  const text = useText();
  const { name, reload } = useAccess();
  const [value, change] = useState(name ?? '');
  const submit = async () => {
    if (await attempt(text, () => setName(value.trim()).then(() => true), text.saved)) void reload();
  };
  return (
    <Form onSubmit={submit} className="mt-3 flex items-end gap-3">
      <Field label={text.signIn.name} className="flex-1">
        {(props) => (
          <Input
            {...props}
            required
            maxLength={80}
            autoComplete="name"
            value={value}
            onChange={(e) => change(e.target.value)}
          />
        )}
      </Field>
      <Button type="submit" variant="outline" className="min-h-11!">
        {text.save}
      </Button>
    </Form>
  );
}
