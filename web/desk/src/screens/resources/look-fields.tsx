import type { Values } from '@desk/backend/resources';
import { Checkbox } from '@desk/components/checkbox';
import { Field } from '@desk/components/field';
import { useText } from '@desk/i18n/language';
import { NativeSelect } from '@/components/ui/input';
import { CategoryField } from './category-field';
import { classOf, colours, isColour } from './colours';
import { iconNames, isIcon } from './icons';

interface Props {
  values: Values;
  set: (change: Partial<Values>) => void;
}

/** The icon and the colour of a resource, and whether it is shown and featured. */
export function LookFields({ values, set }: Props) {
  const text = useText();
  return (
    <div className="grid gap-3 sm:grid-cols-3">
      <CategoryField values={values} set={set} />
      <Field label={text.resources.icon}>
        {(props) => (
          <NativeSelect
            {...props}
            value={values.icon_name ?? 'FileText'}
            onChange={(e) => set({ icon_name: e.target.value })}
          >
            {values.icon_name !== null && !isIcon(values.icon_name) && (
              <option value={values.icon_name}>{values.icon_name}</option>
            )}
            {iconNames.map((icon) => (
              <option key={icon} value={icon}>
                {text.resources.icons[icon]}
              </option>
            ))}
          </NativeSelect>
        )}
      </Field>
      <Field label={text.resources.colour}>
        {(props) => (
          <NativeSelect
            {...props}
            value={values.color_class}
            onChange={(e) => set({ color_class: e.target.value })}
          >
            {!isColour(values.color_class) && (
              <option value={values.color_class}>{values.color_class}</option>
            )}
            {colours.map((colour) => (
              <option key={colour} value={classOf(colour)}>
                {text.resources.colours[colour]}
              </option>
            ))}
          </NativeSelect>
        )}
      </Field>
      <div className="col-span-full flex flex-col gap-2">
        <Checkbox
          label={text.resources.shown}
          checked={values.is_active}
          onChange={(is_active) => set({ is_active })}
        />
        {/* The site reads it from the guide of a file. */}
        {!values.guide && (
          <Checkbox
            label={text.resources.featuredHelp}
            checked={values.is_featured}
            onChange={(is_featured) => set({ is_featured })}
          />
        )}
      </div>
    </div>
  );
}
