import { deleteResource, type Resource, saveResource, type Values } from '@desk/backend/resources';
import { attempt } from '@desk/components/attempt';
import { Button } from '@desk/components/button';
import { ConfirmDialog } from '@desk/components/confirm-dialog';
import { Panel } from '@desk/components/panel';
import { Problem } from '@desk/components/problem';
import { ScreenHead } from '@desk/components/screen-head';
import { useText } from '@desk/i18n/language';
import { type FormEvent, useState } from 'react';
import { useNavigate } from 'react-router-dom';
import { FileField } from './file-field';
import { LookFields } from './look-fields';
import { Preview } from './preview';
import { TextFields } from './text-fields';
import { cleanValues, isComplete, valuesOf } from './values';

/** The form of a resource, or of a new one, with a preview. */
export function Editor({ resource }: { resource: Resource | undefined }) {
  const text = useText();
  const navigate = useNavigate();
  const [values, setValues] = useState<Values>(() => valuesOf(resource));
  const [error, setError] = useState('');
  const [removing, setRemoving] = useState(false);
  const [uploading, setUploading] = useState(false);
  const set = (change: Partial<Values>) => setValues((old) => ({ ...old, ...change }));

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (!isComplete(values)) return setError(text.resources.required);
    setError('');
    const id = await attempt(text, () => saveResource(resource?.id ?? null, cleanValues(values)), text.saved);
    if (id) navigate('/resources');
  };
  const remove = async (unwanted: Resource) => {
    const done = await attempt(text, () => deleteResource(unwanted).then(() => true), text.system.done);
    if (done) navigate('/resources');
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
      <Problem text={error} className="mb-4" />
      <div className="grid gap-4 lg:grid-cols-[1fr_20rem]">
        <div className="flex flex-col gap-4">
          <div className="grid gap-4 sm:grid-cols-2">
            <TextFields language="en" title={text.resources.english} values={values} set={set} />
            <TextFields language="so" title={text.resources.somali} values={values} set={set} />
          </div>
          <FileField values={values} onChange={set} onBusy={setUploading} />
          <Panel>
            <LookFields values={values} set={set} />
          </Panel>
        </div>
        <Preview values={values} />
      </div>
      {removing && resource && (
        <ConfirmDialog
          title={text.resources.removeTitle(resource.title)}
          help={text.resources.removeHelp}
          action={text.resources.remove}
          onClose={() => setRemoving(false)}
          onConfirm={() => remove(resource)}
        />
      )}
    </form>
  );
}
