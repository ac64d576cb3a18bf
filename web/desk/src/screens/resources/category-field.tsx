import type { Values } from '@desk/backend/resources';
import { Field } from '@desk/components/field';
import { useLanguage } from '@desk/i18n/language';
import { categories } from '@desk/lib/categories';
import { NativeSelect } from '@/components/ui/input';

interface Props {
  values: Values;
  set: (change: Partial<Values>) => void;
}

/** The category of a resource, from a list. An imported one of its own stays possible. */
export function CategoryField({ values, set }: Props) {
  const { text, language } = useLanguage();
  const known = categories.some(({ en }) => en === values.category);
  return (
    <Field label={text.resources.category}>
      {(props) => (
        <NativeSelect
          {...props}
          required
          value={values.category}
          onChange={(e) => {
            const chosen = categories.find(({ en }) => en === e.target.value);
            if (chosen) set({ category: chosen.en, category_so: chosen.so });
          }}
        >
          {!known && <option value={values.category}>{values.category || text.resources.choose}</option>}
          {categories.map((category) => (
            <option key={category.en} value={category.en}>
              {category[language]}
            </option>
          ))}
        </NativeSelect>
      )}
    </Field>
  );
}
