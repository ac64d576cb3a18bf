import { listen } from '@desk/backend/listen';
import { listResources } from '@desk/backend/resources';
import { Failure } from '@desk/components/failure';
import { Loading } from '@desk/components/loading';
import { useLoad } from '@desk/components/use-load';
import { useText } from '@desk/i18n/language';
import { useEffect } from 'react';
import { useParams } from 'react-router-dom';
import { Editor } from './editor';

/** The page that adds or edits a resource. */
export default function EditResourceScreen() {
  const { id = 'new' } = useParams();
  const text = useText();
  const { data, error, reload } = useLoad(listResources, id);
  useEffect(() => listen('resources', reload), [reload]);
  if (error && !data) return <Failure error={error} retry={reload} />;
  if (!data) return <Loading />;
  const resource = data.find((r) => r.id === id);
  if (id !== 'new' && !resource) return <p role="alert">{text.notFound}</p>;
  const guides = [...new Set(data.flatMap(({ guide }) => guide ?? []))].sort();
  return <Editor key={id} resource={resource} guides={guides} onStale={reload} />;
}
