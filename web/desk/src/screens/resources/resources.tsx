import { listResources, moveResource, type Resource, saveResource } from '@desk/backend/resources';
import { attempt } from '@desk/components/toast';
import { Button, Failure, Loading, ScreenHead } from '@desk/components/ui';
import { useLoad } from '@desk/components/use-load';
import { useText } from '@desk/i18n/language';
import { ChevronDown, ChevronUp, Plus, Star } from 'lucide-react';
import { Link } from 'react-router-dom';
import { cn } from '@/components/cn';
import { buttonVariants } from '@/components/ui/button';

/** All resources in the order of the site, with those that visitors do not see. */
export default function Resources() {
  const text = useText();
  const { data, error, reload } = useLoad(listResources, 'resources');
  const act = (action: () => Promise<unknown>) => attempt(text, action, text.saved).then(reload);
  return (
    <div className="mx-auto max-w-4xl">
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
          <Line
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

interface LineProps {
  resource: Resource;
  first: boolean;
  last: boolean;
  act: (action: () => Promise<unknown>) => void;
}

function Line({ resource, first, last, act }: LineProps) {
  const text = useText();
  const { id, title, title_so, category, is_active, is_featured, file_url, download_count } = resource;
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-2">
      <div className="flex flex-col">
        <Arrow
          label={`${text.resources.up}: ${title}`}
          disabled={first}
          onClick={() => act(() => moveResource(id, true))}
        >
          <ChevronUp aria-hidden="true" className="size-4" />
        </Arrow>
        <Arrow
          label={`${text.resources.down}: ${title}`}
          disabled={last}
          onClick={() => act(() => moveResource(id, false))}
        >
          <ChevronDown aria-hidden="true" className="size-4" />
        </Arrow>
      </div>
      <div className="min-w-48 flex-1">
        <Link
          to={`/resources/${id}`}
          className={cn('font-semibold hover:underline', !is_active && 'text-muted-foreground')}
        >
          {title}
        </Link>
        {title_so && (
          <p lang="so" className="text-muted-foreground text-sm">
            {title_so}
          </p>
        )}
        <p className="text-muted-foreground text-xs">
          {category} · {file_url === '#' ? text.resources.soon : text.resources.downloads(download_count)}
        </p>
      </div>
      {/* On a phone a row of their own below the title; on a wide screen columns. */}
      <div className="flex items-center gap-3 max-sm:w-full max-sm:ps-11">
        <span
          className={cn(
            'rounded px-1.5 py-0.5 text-xs font-semibold',
            is_active ? 'bg-done-soft text-done' : 'bg-muted text-muted-foreground',
          )}
        >
          {is_active ? text.resources.shown : text.resources.hidden}
        </span>
        <Button
          variant="ghost"
          aria-pressed={is_featured}
          aria-label={`${text.resources.featured}: ${title}`}
          title={text.resources.featured}
          onClick={() => act(() => saveResource(id, { is_featured: !is_featured }))}
        >
          <Star
            aria-hidden="true"
            className={cn('size-4.5!', is_featured ? 'fill-sun-ink text-sun-ink' : 'text-muted-foreground')}
          />
        </Button>
        <Button
          variant="outline"
          className="min-w-24 max-sm:ms-auto"
          aria-label={`${is_active ? text.resources.hide : text.resources.publish}: ${title}`}
          onClick={() => act(() => saveResource(id, { is_active: !is_active }))}
        >
          {is_active ? text.resources.hide : text.resources.publish}
        </Button>
      </div>
    </li>
  );
}

function Arrow({ label, ...props }: React.ComponentProps<'button'> & { label: string }) {
  return (
    <button
      type="button"
      aria-label={label}
      className="hover:bg-muted grid min-h-6 min-w-8 cursor-pointer place-items-center rounded disabled:cursor-default disabled:opacity-40"
      {...props}
    />
  );
}
