import type { Values } from '@desk/backend/resources';
import { Field } from '@desk/components/field';
import { useText } from '@desk/i18n/language';
import { useId } from 'react';
import { Input, NativeSelect } from '@/components/ui/input';
import { languageNames, languages } from '@/i18n/language';

interface Props {
  values: Values;
  guides: string[];
  set: (change: Partial<Values>) => void;
}

/** The guide of a resource and the language of its file: files of one guide share a card on the site. */
export function GuideFields({ values, guides, set }: Props) {
  const text = useText();
  const list = useId();
  return (
    <div className="grid gap-3 sm:grid-cols-2">
      <Field label={text.resources.guide}>
        {(props) => (
          <>
            <Input
              {...props}
              list={list}
              maxLength={100}
              pattern="[a-z0-9]+(-[a-z0-9]+)*"
              value={values.guide ?? ''}
              onChange={(e) =>
                set({ guide: e.target.value.toLowerCase().replace(/[^a-z0-9-]+/g, '-') || null })
              }
            />
            <datalist id={list}>
              {guides.map((guide) => (
                <option key={guide} value={guide} />
              ))}
            </datalist>
          </>
        )}
      </Field>
      <Field label={text.resources.fileLanguage}>
        {(props) => (
          <NativeSelect
            {...props}
            value={values.file_language ?? ''}
            onChange={(e) => set({ file_language: (e.target.value || null) as Values['file_language'] })}
          >
            <option value="">{text.resources.noLanguage}</option>
            {languages.map((each) => (
              <option key={each} value={each}>
                {languageNames[each]}
              </option>
            ))}
          </NativeSelect>
        )}
      </Field>
      <p className="text-muted-foreground text-sm sm:col-span-2">{text.resources.guideHelp}</p>
    </div>
  );
}
