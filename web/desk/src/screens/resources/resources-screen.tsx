import { listen } from '@desk/backend/listen';
import { listResources } from '@desk/backend/resources';
import { attempt } from '@desk/components/attempt';
import { Failure } from '@desk/components/failure';
import { Loading } from '@desk/components/loading';
import { ScreenHead } from '@desk/components/screen-head';
import { useLoad } from '@desk/components/use-load';
import { useText } from '@desk/i18n/language';
import { toast } from '@desk/lib/toast';
import { Plus } from 'lucide-react';
import { useEffect } from 'react';
import { Link } from 'react-router-dom';
import { cn } from '@/components/cn';
import { buttonVariants } from '@/components/ui/button';
import { ResourceLine } from './resource-line';

/** All resources, the newest first, with those that visitors do not see. */
export default function ResourcesScreen() {
  const text = useText();
  const { data, error, reload } = useLoad(listResources, 'resources');
  useEffect(() => listen('resources', reload), [reload]);
  const act = (action: () => Promise<boolean | undefined>) =>
    attempt(text, action).then((done) => {
      if (done === false) toast.error(text.resources.stale);
      reload();
    });
  return (
    <div className="flex max-w-4xl flex-col gap-4">
      <ScreenHead title={text.resources.title}>
        <Link
          to="/resources/new"
          className={cn(buttonVariants(), 'px-3! py-1! text-sm pointer-fine:min-h-9')}
        >
          <Plus aria-hidden="true" /> {text.resources.add}
        </Link>
      </ScreenHead>
      {error !== undefined && <Failure error={error} retry={reload} />}
      {!data && !error && <Loading />}
      {data?.length === 0 && <p>{text.resources.empty}</p>}
      <ol className="bg-card divide-y rounded-lg border">
        {data?.map((resource, i) => (
          <ResourceLine
            key={resource.id}
            resource={resource}
            first={i === 0}
            last={i === data.length - 1}
            act={act}
          />
        ))}
      </ol>
    </div>
  );
}
