import { addResource, changeResource, deleteResource, type Resource } from '@desk/backend/resources';
import { attempt } from '@desk/components/attempt';
import { Button } from '@desk/components/button';
import { ConfirmDialog } from '@desk/components/confirm-dialog';
import { Conflicts } from '@desk/components/conflicts';
import { Form } from '@desk/components/form';
import { Panel } from '@desk/components/panel';
import { Problem } from '@desk/components/problem';
import { ScreenHead } from '@desk/components/screen-head';
import { useText } from '@desk/i18n/language';
import { toast } from '@desk/lib/toast';
import { useForm } from '@desk/session/use-form';
import { useMemo, useState } from 'react';
import { useNavigate } from 'react-router-dom';
import { FileField } from './file-field';
import { GuideFields } from './guide-fields';
import { LookFields } from './look-fields';
import { Preview } from './preview';
import { TextFields } from './text-fields';
import { cleanValues, isComplete, valuesOf } from './values';

interface Props {
  resource: Resource | undefined;
  guides: string[]; // that resources have
  onStale: () => void;
}

/** The form of a resource, or of a new one, with a preview. It shows the changes of colleagues. */
export function Editor({ resource, guides, onStale }: Props) {
  const text = useText();
  const navigate = useNavigate();
  const present = useMemo(() => valuesOf(resource), [resource]);
  const { values, both, theirs, drafted, set, settle, forget } = useForm(
    `resource:${resource?.id ?? 'new'}`,
    present,
  );
  const [error, setError] = useState('');
  const [removing, setRemoving] = useState(false);
  const [uploading, setUploading] = useState(false);
  const leave = () => {
    forget();
    navigate('/resources');
  };

  const submit = async () => {
    if (!isComplete(values)) return setError(text.resources.required);
    if (both.length > 0) return setError(text.resources.decide);
    setError('');
    const clean = cleanValues(values);
    const saved = await attempt(text, () =>
      resource ? changeResource(resource, clean) : addResource(clean).then(() => true),
    );
    if (saved === false) {
      setError(text.resources.stale);
      onStale();
    }
    if (!saved) return;
    toast.success(text.saved);
    leave();
  };
  const remove = async (unwanted: Resource) => {
    const done = await attempt(text, () => deleteResource(unwanted).then(() => true), text.system.done);
    if (done) leave();
  };
  return (
    <Form onSubmit={submit} className="flex max-w-5xl flex-col gap-4" noValidate>
      <ScreenHead title={resource ? text.resources.edit : text.resources.add}>
        <div className="flex flex-wrap gap-2">
          {resource && (
            <Button variant="outline" onClick={() => setRemoving(true)}>
              {text.resources.remove}
            </Button>
          )}
          {drafted && <span className="text-muted-foreground self-center text-sm">{text.draft}</span>}
          <Button variant="outline" onClick={leave}>
            {text.cancel}
          </Button>
          <Button type="submit" disabled={uploading}>
            {text.save}
          </Button>
        </div>
      </ScreenHead>
      <Problem text={error} />
      <Conflicts both={both} mine={values} theirs={theirs} settle={settle} />
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
          <Panel title={text.resources.guideTitle}>
            <GuideFields values={values} guides={guides} set={set} />
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
    </Form>
  );
}
