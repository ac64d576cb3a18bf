import { changeResource, moveResource, type Resource } from '@desk/backend/resources';
import { Button } from '@desk/components/button';
import { useLanguage } from '@desk/i18n/language';
import { ChevronDown, ChevronUp, Star } from 'lucide-react';
import type { ComponentProps } from 'react';
import { Link } from 'react-router-dom';
import { cn } from '@/components/cn';
import { hasFile, textsIn } from './values';

interface Props {
  resource: Resource;
  first: boolean;
  last: boolean;
  act: (action: () => Promise<boolean | undefined>) => Promise<void>;
}

/**
 * A resource in the list: its place, whether it is featured, and whether it is shown. The place and
 * the feature of a guide's file are those of the guide.
 */
export function ResourceLine({ resource, first, last, act }: Props) {
  const { text, language } = useLanguage();
  const { id, guide, is_active, is_featured, download_count } = resource;
  const { title, category } = textsIn(language, resource);
  const other = title === resource.title ? resource.title_so : resource.title;
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-2">
      <div className="flex flex-col">
        <Arrow
          label={`${text.resources.up}: ${title}`}
          disabled={first || guide !== null}
          onClick={() => act(() => moveResource(id, true).then(() => true))}
        >
          <ChevronUp aria-hidden="true" className="size-4" />
        </Arrow>
        <Arrow
          label={`${text.resources.down}: ${title}`}
          disabled={last || guide !== null}
          onClick={() => act(() => moveResource(id, false).then(() => true))}
        >
          <ChevronDown aria-hidden="true" className="size-4" />
        </Arrow>
      </div>
      <div className="min-w-48 flex-1">
        <Link
          to={`/resources/${id}`}
          className={cn(
            'inline-flex min-h-[24px] items-center font-semibold hover:underline',
            !is_active && 'text-muted-foreground',
          )}
        >
          {title}
        </Link>
        {other && (
          <p lang={title === resource.title ? 'so' : 'en'} className="text-muted-foreground text-sm">
            {other}
          </p>
        )}
        <p className="text-muted-foreground text-xs">
          {category} · {hasFile(resource) ? text.resources.downloads(download_count) : text.resources.soon}
          {guide && (
            <>
              {' · '}
              <Link to={`/guides/${guide}`} className="inline-flex min-h-[24px] items-center underline">
                {text.resources.guideTitle}
              </Link>
            </>
          )}
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
        {!guide && (
          <Button
            variant="ghost"
            aria-pressed={is_featured}
            aria-label={`${text.resources.featured}: ${title}`}
            title={text.resources.featured}
            onClick={() => act(() => changeResource(resource, { is_featured: !is_featured }))}
          >
            <Star
              aria-hidden="true"
              className={cn('size-4.5!', is_featured ? 'fill-sun-ink text-sun-ink' : 'text-muted-foreground')}
            />
          </Button>
        )}
        <Button
          variant="outline"
          className="min-w-24 max-sm:ms-auto"
          aria-label={`${is_active ? text.resources.hide : text.resources.publish}: ${title}`}
          onClick={() => act(() => changeResource(resource, { is_active: !is_active }))}
        >
          {is_active ? text.resources.hide : text.resources.publish}
        </Button>
      </div>
    </li>
  );
}

function Arrow({ label, ...props }: ComponentProps<'button'> & { label: string }) {
  return (
    <button
      type="button"
      aria-label={label}
      className="hover:bg-muted grid min-h-[24px] min-w-8 cursor-pointer place-items-center rounded disabled:cursor-default disabled:opacity-40"
      {...props}
    />
  );
}
