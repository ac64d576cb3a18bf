import { HandHeart, WifiOff } from 'lucide-react';
import { useEffect, useState } from 'react';
import { keptResources, loadResources, type Resource } from '@/backend/resources';
import { cn } from '@/components/cn';
import { Link } from '@/components/link';
import { toast } from '@/components/toast';
import { Alert, AlertDescription, AlertTitle } from '@/components/ui/alert';
import { buttonVariants } from '@/components/ui/button';
import { pathIn, useLanguage } from '@/i18n/language';
import { useText } from '@/i18n/text';
import { PageMeta } from '@/layout/page-meta';
import { filterResources, noFilter } from './filter-resources';
import { groupResources, type ResourceGroup } from './group-resources';
import { ResourceCard } from './resource-card';
import { ResourceFilter } from './resource-filter';

/** The number of featured resources that are shown. Others are not shown at all (spec §9). */
const maxFeatured = 2;

const isFeatured = ({ guides, is_featured }: Resource) => guides?.is_featured ?? is_featured;

type State =
  | { name: 'loading' }
  | { name: 'loaded'; resources: Resource[]; kept: boolean }
  | { name: 'failed' };

export function ResourcesScreen() {
  const text = useText('resources');
  const state = useResources();

  return (
    <div className="page grid gap-8 pt-8 md:pt-12">
      <PageMeta title={text.title} description={text.description} image="resources" />
      <div className="prose-width">
        <h1>{text.title}</h1>
        <p className="text-muted-foreground mt-3 text-lg">{text.description}</p>
      </div>
      {/* While the list loads, the content below it is off screen, so the layout does not visibly shift. */}
      <div
        data-live="now"
        className={cn(
          'grid grid-cols-[minmax(0,1fr)] content-start gap-8',
          state.name === 'loading' && 'started:min-h-dvh failed:min-h-0',
        )}
      >
        {/* One element for all states: a screen reader announces changes of a live region, not a new one. */}
        <p role="status" className="started:block failed:hidden hidden text-lg empty:hidden!">
          {state.name === 'loading' && text.loading}
          {state.name === 'loaded' && state.resources.length === 0 && text.empty}
        </p>
        {state.name === 'loading' && <WithoutApplication />}
        {state.name === 'failed' && <LoadingError />}
        {state.name === 'loaded' && <ResourceList resources={state.resources} kept={state.kept} />}
      </div>
      <section className="bg-primary-soft grid justify-items-center gap-2 rounded-2xl p-8 text-center">
        <HandHeart aria-hidden className="text-henna size-10" />
        <h2>{text.closing.title}</h2>
        <p className="prose-width">{text.closing.text}</p>
      </section>
    </div>
  );
}

function useResources(): State {
  const { toasts } = useText('resources');
  const [state, setState] = useState<State>({ name: 'loading' });

  useEffect(() => {
    let left = false;
    loadResources().then(
      (resources) => {
        if (!left) setState({ name: 'loaded', resources, kept: false });
      },
      () => {
        if (left) return;
        const kept = navigator.onLine ? undefined : keptResources();
        if (kept) return setState({ name: 'loaded', resources: kept, kept: true });
        setState({ name: 'failed' });
        toast({ ...toasts.loadFailed, variant: 'destructive' });
      },
    );
    return () => {
      left = true;
    };
  }, [toasts]);
  return state;
}

/** What the page shows while scripts are missing: before they run, or after they have failed (boot/live-page.ts). */
function WithoutApplication() {
  const text = useText('resources');
  return (
    <>
      <div className="started:hidden grid justify-items-start gap-4">
        <p>{text.noscript}</p>
        <div className="flex flex-wrap gap-3">
          <a href={`/functions/v1/resource-list?language=${useLanguage()}`} className={buttonVariants()}>
            {text.plainList}
          </a>
          <GuidesLink />
        </div>
      </div>
      <div role="alert" className="failed:block hidden">
        <LoadingError />
      </div>
    </>
  );
}

function LoadingError() {
  const text = useText('resources');
  const { title, description } = text.toasts.loadFailed;
  return (
    <div className="grid justify-items-start gap-4">
      <Alert variant="destructive" className="w-full">
        <AlertTitle>{title}</AlertTitle>
        <AlertDescription>{description}</AlertDescription>
      </Alert>
      <p>{text.instead}</p>
      <GuidesLink />
    </div>
  );
}

function GuidesLink() {
  const text = useText('resources');
  return (
    <Link to={pathIn(useLanguage(), '/learn/')} className={buttonVariants({ variant: 'outline' })}>
      {text.noscriptLink}
    </Link>
  );
}

function ResourceList({ resources, kept }: { resources: Resource[]; kept: boolean }) {
  const text = useText('resources');
  const language = useLanguage();
  const [filter, setFilter] = useState(noFilter);
  const featured = resources.filter(isFeatured).slice(0, maxFeatured);
  const others = resources.filter((resource) => !isFeatured(resource));
  const shown = groupResources(filterResources(others, filter), language);

  return (
    <>
      {kept && (
        <Alert variant="warning" role="status">
          <WifiOff aria-hidden />
          <AlertDescription>{text.kept}</AlertDescription>
        </Alert>
      )}
      {featured.length > 0 && (
        <section className="grid gap-4">
          <h2>{text.featured}</h2>
          {/* Each has a card of its own, also two languages of one guide: these are the first two (spec §9). */}
          <Cards
            groups={featured.flatMap((each) => groupResources([each], language))}
            columns="md:grid-cols-2"
          />
        </section>
      )}
      {others.length > 0 && (
        <section className="grid gap-4">
          <h2>{text.list}</h2>
          <ResourceFilter resources={others} filter={filter} onChange={setFilter} />
          <p role="status" className="empty:hidden">
            {filter !== noFilter && text.filters.shown.replace('{count}', String(shown.length))}
          </p>
          <Cards groups={shown} columns="md:grid-cols-2 lg:grid-cols-3" />
        </section>
      )}
    </>
  );
}

function Cards({ groups, columns }: { groups: readonly ResourceGroup[]; columns: string }) {
  return (
    <ul className={`grid gap-4 ${columns}`}>
      {groups.map((group) => (
        <li key={group.files[0]?.resource.id}>
          <ResourceCard group={group} />
        </li>
      ))}
    </ul>
  );
}
