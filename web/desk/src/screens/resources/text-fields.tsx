import type { Values } from '@desk/backend/resources';
import { Field } from '@desk/components/field';
import { Panel } from '@desk/components/panel';
import { useText } from '@desk/i18n/language';
import { Input, Textarea } from '@/components/ui/input';
import { type TextValues, textNames } from './values';

interface Props {
  language: 'en' | 'so';
  title: string;
  values: Values;
  set: (change: Partial<Values>) => void;
}

/** The title and the description in a language. */
export function TextFields({ language, title, values, set }: Props) {
  const text = useText();
  const names = textNames[language];
  const control = (name: keyof TextValues) => ({
    lang: language,
    value: values[name] ?? '',
    onChange: (e: { target: { value: string } }) => set({ [name]: e.target.value }),
  });
  return (
    <Panel title={title}>
      <div className="flex flex-col gap-3">
        <Field label={text.resources.name}>
          {(props) => (
            <Input {...props} required={language === 'en'} maxLength={200} {...control(names.title)} />
          )}
        </Field>
        <Field label={text.resources.description}>
          {(props) => <Textarea {...props} rows={4} maxLength={1000} {...control(names.description)} />}
        </Field>
      </div>
    </Panel>
  );
}
