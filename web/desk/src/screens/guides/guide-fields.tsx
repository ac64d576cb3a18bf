import type { GuideValues } from '@desk/backend/guides';
import { Checkbox } from '@desk/components/checkbox';
import { dense, Field } from '@desk/components/field';
import { useLanguage } from '@desk/i18n/language';
import { categories } from '@desk/lib/categories';
import { Input, NativeSelect, Textarea } from '@/components/ui/input';
import { PictureField } from './picture-field';

interface Props {
  values: GuideValues;
  set: (change: Partial<GuideValues>) => void;
}

/** The texts of a guide in both languages, its category, picture and place. */
export function GuideFields({ values, set }: Props) {
  const { text, language } = useLanguage();
  const known = categories.some(({ en }) => en === values.category);
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-2">
        <fieldset className="flex flex-col gap-3">
          <legend className="mb-2 font-semibold">{text.resources.english}</legend>
          <Field label={text.resources.name}>
            {(props) => (
              <Input
                {...props}
                lang="en"
                required
                maxLength={200}
                value={values.title}
                onChange={(e) => set({ title: e.target.value })}
              />
            )}
          </Field>
          <Field label={text.resources.description}>
            {(props) => (
              <Textarea
                {...props}
                lang="en"
                rows={3}
                maxLength={1000}
                value={values.description}
                onChange={(e) => set({ description: e.target.value })}
              />
            )}
          </Field>
        </fieldset>
        <fieldset className="flex flex-col gap-3">
          <legend className="mb-2 font-semibold">{text.resources.somali}</legend>
          <Field label={text.resources.name}>
            {(props) => (
              <Input
                {...props}
                lang="so"
                maxLength={200}
                value={values.title_so ?? ''}
                onChange={(e) => set({ title_so: e.target.value })}
              />
            )}
          </Field>
          <Field label={text.resources.description}>
            {(props) => (
              <Textarea
                {...props}
                lang="so"
                rows={3}
                maxLength={1000}
                value={values.description_so ?? ''}
                onChange={(e) => set({ description_so: e.target.value })}
              />
            )}
          </Field>
        </fieldset>
      </div>
      <div className="grid gap-4 sm:grid-cols-3">
        <Field label={text.resources.category}>
          {(props) => (
            <NativeSelect
              {...props}
              className={dense}
              value={values.category}
              onChange={(e) => {
                const chosen = categories.find(({ en }) => en === e.target.value);
                if (chosen) set({ category: chosen.en, category_so: chosen.so });
              }}
            >
              {!known && <option value={values.category}>{values.category}</option>}
              {categories.map((category) => (
                <option key={category.en} value={category.en}>
                  {category[language]}
                </option>
              ))}
            </NativeSelect>
          )}
        </Field>
        <Field label={text.guides.place}>
          {(props) => (
            <Input
              {...props}
              type="number"
              min={0}
              max={10000}
              required
              className={dense}
              value={values.position}
              onChange={(e) => set({ position: Number(e.target.value) })}
            />
          )}
        </Field>
        <PictureField picture={values.picture} onChange={(picture) => set({ picture })} />
      </div>
      <Checkbox
        label={text.resources.featuredHelp}
        checked={values.is_featured}
        onChange={(is_featured) => set({ is_featured })}
      />
    </>
  );
}
