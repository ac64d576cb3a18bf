import {
  colours,
  deleteResource,
  icons,
  listResources,
  type Resource,
  saveResource,
  type Values,
} from '@desk/backend/resources';
import { attempt } from '@desk/components/toast';
import {
  Button,
  Dialog,
  Failure,
  Field,
  Input,
  Loading,
  NativeSelect,
  Panel,
  ScreenHead,
  Textarea,
} from '@desk/components/ui';
import { useLoad } from '@desk/components/use-load';
import type { Text } from '@desk/i18n/en';
import { useText } from '@desk/i18n/language';
import { type FormEvent, useState } from 'react';
import { useNavigate, useParams } from 'react-router-dom';
import { FileField } from './file-field';
import { Preview } from './preview';

const empty: Values = {
  title: '',
  title_so: null,
  description: '',
  description_so: null,
  category: '',
  category_so: null,
  icon_name: 'FileText',
  color_class: 'bg-teal-700',
  file_url: '#',
  file_size: 0,
  file_type: 'application/pdf',
  is_active: false,
  is_featured: false,
};

/** The page that adds or edits a resource. */
export default function EditResource() {
  const { id = 'new' } = useParams();
  const text = useText();
  const { data, error, reload } = useLoad(listResources, id);
  if (error) return <Failure error={error} retry={reload} />;
  if (!data) return <Loading />;
  const resource = data.find((r) => r.id === id);
  if (id !== 'new' && !resource) return <p role="alert">{text.notFound}</p>;
  return <Editor key={id} resource={resource} />;
}

function Editor({ resource }: { resource: Resource | undefined }) {
  const text = useText();
  const navigate = useNavigate();
  const [values, setValues] = useState<Values>(() => (resource ? pick(resource) : empty));
  const [error, setError] = useState('');
  const [removing, setRemoving] = useState(false);
  const [uploading, setUploading] = useState(false);
  const set = (change: Partial<Values>) => setValues((old) => ({ ...old, ...change }));

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (!values.title.trim() || !values.category.trim()) return setError(text.resources.required);
    setError('');
    const id = await attempt(text, () => saveResource(resource?.id ?? null, clean(values)), text.saved);
    if (id) navigate('/resources');
  };
  return (
    <form onSubmit={submit} className="mx-auto max-w-5xl" noValidate>
      <ScreenHead title={resource ? text.resources.edit : text.resources.add}>
        <div className="flex gap-2">
          {resource && (
            <Button variant="outline" onClick={() => setRemoving(true)}>
              {text.resources.remove}
            </Button>
          )}
          <Button variant="outline" onClick={() => navigate('/resources')}>
            {text.cancel}
          </Button>
          <Button type="submit" disabled={uploading}>
            {text.save}
          </Button>
        </div>
      </ScreenHead>
      {error && (
        <p role="alert" className="bg-destructive-soft text-destructive mb-4 rounded-lg p-3">
          {error}
        </p>
      )}
      <div className="grid gap-4 lg:grid-cols-[1fr_20rem]">
        <div className="flex flex-col gap-4">
          <div className="grid gap-4 sm:grid-cols-2">
            <Words language="en" title={text.resources.english} values={values} set={set} />
            <Words language="so" title={text.resources.somali} values={values} set={set} />
          </div>
          <FileField values={values} onChange={set} onBusy={setUploading} />
          <Panel>
            <Look values={values} set={set} />
          </Panel>
        </div>
        <Preview values={values} />
      </div>
      {removing && resource && (
        <Remove
          resource={resource}
          onClose={() => setRemoving(false)}
          onDone={() => navigate('/resources')}
        />
      )}
    </form>
  );
}

interface PartProps {
  values: Values;
  set: (change: Partial<Values>) => void;
}

function Words({ language, title, values, set }: PartProps & { language: 'en' | 'so'; title: string }) {
  const text = useText();
  const end = language === 'so' ? '_so' : '';
  const names = {
    title: `title${end}`,
    description: `description${end}`,
    category: `category${end}`,
  } as const;
  const get = (name: string) => (values[name as keyof Values] as string | null) ?? '';
  const change = (name: string) => (e: { target: { value: string } }) => set({ [name]: e.target.value });
  return (
    <Panel title={title}>
      <div className="flex flex-col gap-3" lang={language}>
        <Field label={text.resources.name}>
          {(props) => (
            <Input
              {...props}
              required={language === 'en'}
              maxLength={200}
              value={get(names.title)}
              onChange={change(names.title)}
            />
          )}
        </Field>
        <Field label={text.resources.description}>
          {(props) => (
            <Textarea
              {...props}
              rows={4}
              maxLength={1000}
              value={get(names.description)}
              onChange={change(names.description)}
            />
          )}
        </Field>
        <Field label={text.resources.category}>
          {(props) => (
            <Input
              {...props}
              required={language === 'en'}
              maxLength={100}
              value={get(names.category)}
              onChange={change(names.category)}
            />
          )}
        </Field>
      </div>
    </Panel>
  );
}

function Look({ values, set }: PartProps) {
  const text = useText();
  return (
    <div className="grid gap-3 sm:grid-cols-2">
      <Field label={text.resources.icon}>
        {(props) => (
          <NativeSelect
            {...props}
            value={values.icon_name ?? 'FileText'}
            onChange={(e) => set({ icon_name: e.target.value as Values['icon_name'] })}
          >
            {icons.map((icon) => (
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
            {!(colours as readonly string[]).includes(values.color_class) && (
              <option value={values.color_class}>{values.color_class}</option>
            )}
            {colours.map((colour) => (
              <option key={colour} value={colour}>
                {text.resources.colours[colour.split('-')[1] as keyof Text['resources']['colours']]}
              </option>
            ))}
          </NativeSelect>
        )}
      </Field>
      <label className="flex items-center gap-2">
        <input
          type="checkbox"
          className="accent-primary size-4 shrink-0"
          checked={values.is_active}
          onChange={(e) => set({ is_active: e.target.checked })}
        />
        {text.resources.shown}
      </label>
      <label className="flex items-center gap-2">
        <input
          type="checkbox"
          className="accent-primary size-4 shrink-0"
          checked={values.is_featured}
          onChange={(e) => set({ is_featured: e.target.checked })}
        />
        {text.resources.featuredHelp}
      </label>
    </div>
  );
}

function Remove({
  resource,
  onClose,
  onDone,
}: {
  resource: Resource;
  onClose: () => void;
  onDone: () => void;
}) {
  const text = useText();
  const remove = () =>
    attempt(text, () => deleteResource(resource).then(() => true), text.system.done).then(
      (done) => done && onDone(),
    );
  return (
    <Dialog title={text.resources.removeTitle(resource.title)} onClose={onClose}>
      <p>{text.resources.removeHelp}</p>
      <div className="flex justify-end gap-2">
        <Button variant="outline" onClick={onClose}>
          {text.cancel}
        </Button>
        <Button variant="henna" onClick={remove}>
          {text.resources.remove}
        </Button>
      </div>
    </Dialog>
  );
}

function pick(resource: Resource): Values {
  const { id: _id, download_count: _count, created_at: _at, ...rest } = resource;
  return Object.fromEntries(
    Object.keys(empty).map((key) => [key, rest[key as keyof Values]]),
  ) as unknown as Values;
}

/** Empty optional texts become null, as the database wants them. */
function clean(values: Values): Values {
  const orNull = (s: string | null) => s?.trim() || null;
  return {
    ...values,
    title: values.title.trim(),
    category: values.category.trim(),
    description: values.description.trim(),
    title_so: orNull(values.title_so),
    description_so: orNull(values.description_so),
    category_so: orNull(values.category_so),
  };
}
