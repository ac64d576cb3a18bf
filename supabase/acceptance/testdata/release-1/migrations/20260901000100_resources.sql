-- Educational resources that visitors download, and how often they do.

create type public.resource_icon as enum
  ('FileText', 'Shield', 'Heart', 'Baby', 'Smartphone', 'Users', 'BookOpen', 'Download');
comment on type public.resource_icon is 'Icons that the site can draw on a resource card.';

create table public.resources (
  id uuid primary key default gen_random_uuid(),
  title text not null,
  title_so text,
  description text not null default '',
  description_so text,
  category text not null,
  category_so text,
  icon_name public.resource_icon,
  color_class text not null default 'bg-teal-700',
  file_url text not null default '#',
  file_size bigint not null default 0,
  file_type text not null default 'application/pdf',
  download_count bigint not null default 0,
  is_active boolean not null default true,
  is_featured boolean not null default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),

  constraint resources_title_length check (btrim(title) <> '' and char_length(title) <= 200),
  constraint resources_title_so_length check (btrim(title_so) <> '' and char_length(title_so) <= 200),
  constraint resources_description_length check (char_length(description) <= 1000),
  constraint resources_description_so_length check (char_length(description_so) <= 1000),
  constraint resources_category_length check (btrim(category) <> '' and char_length(category) <= 100),
  constraint resources_category_so_length check (char_length(category_so) <= 100),
  -- The site's style sheet carries exactly these.
  constraint resources_color_class_known check (color_class in
    ('bg-teal-700', 'bg-sky-700', 'bg-rose-700', 'bg-amber-700', 'bg-violet-700', 'bg-emerald-700', 'bg-pink-700', 'bg-slate-700')),
  -- A path on the site's own origin, or '#' while there is no file. A second slash or a backslash would leave the origin.
  constraint resources_file_url_own check (file_url = '#' or (file_url ~ '^/[^/\\[:cntrl:]][^\\[:cntrl:]]*$' and char_length(file_url) <= 500)),
  constraint resources_file_size_range check (file_size >= 0),
  constraint resources_file_type_form check (file_type ~ '^[a-z]+/[a-z0-9][a-z0-9.+-]*$' and char_length(file_type) <= 100),
  constraint resources_download_count_range check (download_count >= 0)
) with (fillfactor = 50); -- room for the count to be updated in place (HOT)

comment on table public.resources is 'Educational resources shown on the resources page; visitors see the active ones.';
comment on column public.resources.id is 'Identity of the resource.';
comment on column public.resources.title is 'Title in English.';
comment on column public.resources.title_so is 'Title in Somali; the English one is shown when empty.';
comment on column public.resources.description is 'One or two sentences in English.';
comment on column public.resources.description_so is 'The same in Somali.';
comment on column public.resources.category is 'Category in English, such as Safety.';
comment on column public.resources.category_so is 'Category in Somali.';
comment on column public.resources.icon_name is 'Icon of the card; a default icon is drawn when empty.';
comment on column public.resources.color_class is 'Colour of the icon''s ground: one of the classes that the style sheet carries.';
comment on column public.resources.file_url is 'Path of the file on this site, or # while it is still to come.';
comment on column public.resources.file_size is 'Size of the file in bytes.';
comment on column public.resources.file_type is 'MIME type of the file.';
comment on column public.resources.download_count is 'Downloads so far; raised by track_download.';
comment on column public.resources.is_active is 'Shown to visitors.';
comment on column public.resources.is_featured is 'Candidate for the two featured places; the newest two are taken.';
comment on column public.resources.created_at is 'When it was added; the page lists the newest first.';
comment on column public.resources.updated_at is 'When anything but the count last changed.';

create index resources_listed on public.resources (created_at desc) where is_active;

-- Every column an editor changes, so that counting a download leaves the time alone.
create trigger resources_updated_at
  before update of title, title_so, description, description_so, category, category_so, icon_name, color_class,
    file_url, file_size, file_type, is_active, is_featured on public.resources
  for each row execute function private.touch();

alter table public.resources enable row level security;
revoke all on table public.resources from anon, authenticated;
grant select on table public.resources to anon, authenticated;
grant select, insert, update, delete on table public.resources to service_role;
create policy "visitors see active resources" on public.resources
  for select to anon, authenticated using (is_active);

create table public.downloads_per_day (
  resource_id uuid not null references public.resources (id) on delete cascade,
  day date not null,
  downloads bigint not null default 0,
  primary key (resource_id, day),
  constraint downloads_per_day_range check (downloads >= 0)
) with (fillfactor = 50);
comment on table public.downloads_per_day is 'Downloads of each resource by day (UTC). Counts only: nothing of the visitor.';
comment on column public.downloads_per_day.resource_id is 'The resource.';
comment on column public.downloads_per_day.day is 'The day, in UTC.';
comment on column public.downloads_per_day.downloads is 'Downloads on that day.';
alter table public.downloads_per_day enable row level security;
revoke all on table public.downloads_per_day from anon, authenticated;
grant select, insert, update, delete on table public.downloads_per_day to service_role;

-- A popular resource is one hot row. With an ordinary commit its lock is held while the log is flushed, and everybody
-- queues for the disk one by one. Here the commit does not wait for the flush: the lock is held for microseconds, the
-- count stays exact, and concurrent callers share the next flush. Who must know that the count survives a crash commits
-- anything durably afterwards (the function track-download does); otherwise a crash can cost the last half second.
create function public.track_download(resource_id uuid) returns bigint
language plpgsql volatile set search_path = ''
as $$
declare
  total bigint;
begin
  perform set_config('synchronous_commit', 'off', true);
  update public.resources as r
     set download_count = r.download_count + 1
   where r.id = track_download.resource_id and r.is_active
  returning r.download_count into total;
  if found then
    insert into public.downloads_per_day as d (resource_id, day, downloads)
    values (track_download.resource_id, (now() at time zone 'UTC')::date, 1)
    on conflict on constraint downloads_per_day_pkey do update set downloads = d.downloads + 1;
  end if;
  return total;
end $$;
comment on function public.track_download(uuid) is
  'Counts one download of an active resource and returns its total; null when there is none with that id. service_role only.';
revoke all on function public.track_download(uuid) from public, anon, authenticated;
grant execute on function public.track_download(uuid) to service_role;

create view public.downloads_by_month with (security_invoker = true) as
  select date_trunc('month', d.day)::date as month, r.title, sum(d.downloads)::bigint as downloads, r.id as resource_id
    from public.downloads_per_day as d
    join public.resources as r on r.id = d.resource_id
   group by 1, r.id, r.title
   order by 1 desc, 3 desc;
comment on view public.downloads_by_month is 'Downloads of each resource by month, newest month first.';
revoke all on table public.downloads_by_month from anon, authenticated;
grant select on table public.downloads_by_month to service_role;
