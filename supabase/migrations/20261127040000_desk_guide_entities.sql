-- A guide is one thing: its texts in two languages, its picture, category and order, its files with their versions, and its
-- review. A resource is one file of it. Resources without a guide, such as imported ones, stay as they are.

create table public.guides (
  slug text primary key,
  title text not null,
  title_so text,
  description text not null default '',
  description_so text,
  category text not null,
  category_so text,
  picture text,
  position integer not null default 0,
  is_featured boolean not null default false,
  version integer not null default 1,
  reviewed_by text,
  reviewed_role text,
  reviewed_on date,
  review_due date,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint guides_slug_form check (slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$' and char_length(slug) <= 100),
  constraint guides_title_length check (btrim(title) <> '' and char_length(title) <= 200),
  constraint guides_title_so_length check (btrim(title_so) <> '' and char_length(title_so) <= 200),
  constraint guides_description_length check (char_length(description) <= 1000),
  constraint guides_description_so_length check (char_length(description_so) <= 1000),
  constraint guides_category_length check (btrim(category) <> '' and char_length(category) <= 100),
  constraint guides_category_so_length check (char_length(category_so) <= 100),
  constraint guides_picture_form check (picture ~ '^/[^/\\[:cntrl:]][^\\[:cntrl:]]*$' and char_length(picture) <= 500),
  constraint guides_review_whole check (num_nulls(reviewed_by, reviewed_role, reviewed_on, review_due) in (0, 4)),
  constraint guides_reviewed_role_given check (btrim(reviewed_role) <> '' and char_length(reviewed_role) <= 100),
  constraint guides_review_due_later check (review_due > reviewed_on)
);
comment on table public.guides is 'Guides that visitors download, each with files in one or two languages, and their review.';
comment on column public.guides.slug is 'Short name of the guide.';
comment on column public.guides.title is 'Title in English.';
comment on column public.guides.title_so is 'Title in Somali; the English one is shown when empty.';
comment on column public.guides.description is 'One or two sentences in English.';
comment on column public.guides.description_so is 'The same in Somali.';
comment on column public.guides.category is 'Category in English, such as Safety.';
comment on column public.guides.category_so is 'Category in Somali.';
comment on column public.guides.picture is 'Path of a picture on this site; the card draws its own when empty.';
comment on column public.guides.position is 'Order of the guides, the smallest first; those with equal numbers by the date of their files, newest first.';
comment on column public.guides.is_featured is 'Candidate for the featured places.';
comment on column public.guides.version is 'Grows with each change of an editor. A change names the version that it saw.';
comment on column public.guides.reviewed_by is 'Name of the member who signed the present texts and files off; null before that.';
comment on column public.guides.reviewed_role is 'Profession of that member.';
comment on column public.guides.reviewed_on is 'Day of the sign-off (UTC).';
comment on column public.guides.review_due is 'Day of the next review.';
comment on column public.guides.created_at is 'When it was added.';
comment on column public.guides.updated_at is 'When it last changed.';

create table public.resource_versions (
  resource_id uuid not null references public.resources (id) on delete cascade,
  number integer not null,
  file_url text not null,
  file_size bigint not null,
  file_type text not null,
  replaced_at timestamptz not null default now(),
  primary key (resource_id, number)
);
comment on table public.resource_versions is 'Earlier files of resources, the oldest with number 1.';
comment on column public.resource_versions.resource_id is 'The resource.';
comment on column public.resource_versions.number is 'Number of the file.';
comment on column public.resource_versions.file_url is 'Address of the file.';
comment on column public.resource_versions.file_size is 'Size of the file in bytes.';
comment on column public.resource_versions.file_type is 'MIME type of the file.';
comment on column public.resource_versions.replaced_at is 'When the next file replaced it.';

-- What a guide shows is what was reviewed: another text or another file needs another review.
create function private.change_guide() returns trigger
language plpgsql set search_path = ''
as $$
begin
  new.version := old.version + 1;
  new.updated_at := now();
  if (new.title, new.title_so, new.description, new.description_so) is distinct from
     (old.title, old.title_so, old.description, old.description_so) then
    new.reviewed_by := null;
    new.reviewed_role := null;
    new.reviewed_on := null;
    new.review_due := null;
  end if;
  return new;
end $$;
comment on function private.change_guide() is 'Raises the version of a changed guide, and ends its review when its texts change; for triggers.';

create function private.guide_title(title text) returns text
language sql immutable set search_path = ''
as $$ select regexp_replace(title, ' \((in Somali|in English|Soomaali|Ingiriisi)\)$', '') $$;
comment on function private.guide_title(text) is 'Title of a guide from that of one of its files, which may name its language at the end.';
revoke all on function private.guide_title(text) from public;

create function private.guide_of_resource() returns trigger
language plpgsql security definer set search_path = ''
as $$
begin
  if new.guide is not null then
    insert into public.guides (slug, title, title_so, description, description_so, category, category_so, is_featured)
    values (new.guide, private.guide_title(new.title), private.guide_title(new.title_so), new.description, new.description_so, new.category, new.category_so, new.is_featured)
    on conflict (slug) do nothing;
  end if;
  if tg_op = 'UPDATE' then
    if new.file_url <> old.file_url then
      insert into public.resource_versions (resource_id, number, file_url, file_size, file_type)
      select old.id, coalesce(max(v.number), 0) + 1, old.file_url, old.file_size, old.file_type
        from public.resource_versions as v where v.resource_id = old.id and old.file_url <> '#'
      having old.file_url <> '#';
    end if;
    if (new.file_url, new.guide) is distinct from (old.file_url, old.guide) then
      update public.guides as g set reviewed_by = null, reviewed_role = null, reviewed_on = null, review_due = null
       where g.slug in (old.guide, new.guide) and g.reviewed_on is not null;
    end if;
  elsif new.file_url <> '#' then
    update public.guides as g set reviewed_by = null, reviewed_role = null, reviewed_on = null, review_due = null
     where g.slug = new.guide and g.reviewed_on is not null;
  end if;
  return new;
end $$;
comment on function private.guide_of_resource() is
  'Adds the guide that a resource names, keeps the file that is replaced, and ends the review of a guide with another file; for triggers.';

create function private.trail_guide() returns trigger
language plpgsql security definer set search_path = ''
as $$
declare
  changes jsonb;
begin
  if tg_op = 'INSERT' then
    perform private.write_trail('add', 'guide', new.slug, new.title);
    return null;
  end if;
  select jsonb_object_agg(n.key, case when n.key in ('is_featured', 'reviewed_on', 'review_due', 'reviewed_role', 'position')
                                      then coalesce(n.value, 'null') else '"changed"' end) into changes
    from jsonb_each(to_jsonb(new)) as n
   where n.value is distinct from to_jsonb(old) -> n.key and n.key not in ('updated_at', 'version', 'reviewed_by');
  if changes is not null then
    perform private.write_trail(case when new.reviewed_on is not null and changes ? 'reviewed_on' then 'review' else 'change' end,
      'guide', new.slug, new.title, changes);
  end if;
  return null;
end $$;
comment on function private.trail_guide() is 'Writes new, changed and reviewed guides to the trail; for triggers.';
revoke all on function private.change_guide(), private.guide_of_resource(), private.trail_guide() from public;

alter table public.staff_trail drop constraint staff_trail_action_known, drop constraint staff_trail_subject_known,
  add constraint staff_trail_action_known check (action in
    ('read', 'search', 'change', 'add', 'review', 'note', 'contact', 'link', 'forward', 'notice', 'export', 'delete', 'retry', 'invite', 'role',
     'remove', 'run')),
  add constraint staff_trail_subject_known check (subject in ('report', 'clusters', 'resource', 'guide', 'staff', 'job', 'system'));

-- The guides of the resources that are there: the English file gives the texts.
insert into public.guides (slug, title, title_so, description, description_so, category, category_so, is_featured)
select r.guide, private.guide_title(r.title), private.guide_title(r.title_so), r.description, r.description_so, r.category, r.category_so, r.is_featured
  from (select distinct on (o.guide) o.* from public.resources as o where o.guide is not null
         order by o.guide, o.file_language = 'en' desc nulls last, o.created_at) as r;
alter table public.resources add constraint resources_guide_known foreign key (guide) references public.guides (slug) on update cascade;
create index resources_of_guide on public.resources (guide) where guide is not null;

create trigger guides_change before update on public.guides for each row execute function private.change_guide();
create trigger guides_trail after insert or update on public.guides for each row execute function private.trail_guide();
create trigger guides_tell after insert or update or delete on public.guides for each statement execute function private.tell_editors();
-- Its name is after resources_guide, which reads the guide from the name of a new file.
create trigger resources_guide_entity before insert or update of guide, file_url on public.resources
  for each row execute function private.guide_of_resource();

alter table public.guides enable row level security;
alter table public.resource_versions enable row level security;
revoke all on table public.guides, public.resource_versions from public, anon, authenticated;
grant select on table public.guides to anon, authenticated;
grant select on table public.resource_versions to authenticated;
grant insert (slug, title, title_so, description, description_so, category, category_so, picture, position, is_featured),
  update (title, title_so, description, description_so, category, category_so, picture, position, is_featured)
  on table public.guides to authenticated;
grant select, insert, update, delete on table public.guides, public.resource_versions to service_role;
-- A guide without a shown file is no secret of the staff, but nothing for visitors either.
create policy "visitors see guides with a shown file" on public.guides for select to anon, authenticated
  using (exists (select from public.resources as r where r.guide = slug and r.is_active));
create policy "staff see every guide" on public.guides for select to authenticated
  using ((select private.is_editor() or private.is_reviewer()));
create policy "editors add guides" on public.guides for insert to authenticated with check ((select private.is_editor()));
create policy "editors change guides" on public.guides for update to authenticated
  using ((select private.is_editor())) with check ((select private.is_editor()));
create policy "staff see earlier files" on public.resource_versions for select to authenticated
  using ((select private.is_editor() or private.is_reviewer()));
create policy "reviewers see the files of guides" on public.resources for select to authenticated
  using (guide is not null and (select private.is_reviewer()));

create function private.second_factor_within(period interval) returns boolean
language sql stable set search_path = ''
as $$
  select coalesce((select max((m ->> 'timestamp')::bigint) from jsonb_array_elements(auth.jwt() -> 'amr') as m
                    where m ->> 'method' in ('totp', 'mfa/webauthn', 'passkey')) > extract(epoch from now() - period), false)
$$;
comment on function private.second_factor_within(interval) is 'Whether the caller has shown a second factor within a period before now.';
revoke all on function private.second_factor_within(interval) from public;

create function public.review_guide(guide text, version integer, profession text, due date) returns boolean
language plpgsql volatile security definer set search_path = ''
as $$
declare
  signer text;
begin
  perform private.require_reviewer();
  if not private.second_factor_within('10 minutes') then
    raise exception 'a second factor of the last ten minutes is required' using errcode = 'PT403', detail = 'second_factor';
  end if;
  select nullif(btrim(u.raw_user_meta_data ->> 'name'), '') into signer from auth.users as u where u.id = auth.uid();
  if signer is null then
    raise exception 'the account has no name' using errcode = '23514';
  end if;
  update public.guides as g
     set reviewed_by = signer, reviewed_role = btrim(review_guide.profession), reviewed_on = (now() at time zone 'UTC')::date,
         review_due = review_guide.due
   where g.slug = review_guide.guide and g.version = review_guide.version;
  return found;
end $$;
comment on function public.review_guide(text, integer, text, date) is
  'Signs a guide off under the name of the caller, if it has the version that the caller saw; false otherwise. Reviewers and owners, with a second factor of the last ten minutes.';
revoke all on function public.review_guide(text, integer, text, date) from public, anon, authenticated, service_role;
grant execute on function public.review_guide(text, integer, text, date) to authenticated;
