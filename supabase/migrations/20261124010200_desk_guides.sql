-- A resource names its guide and the language of its file, so a new file does not separate it from the other languages of the
-- guide. Both begin with what the name of the file says: <slug>.<language>.<extension>.

alter table public.resources
  add column guide text,
  add column file_language public.site_language,
  add column version integer not null default 1,
  add constraint resources_guide_form check (guide ~ '^[a-z0-9]+(-[a-z0-9]+)*$' and char_length(guide) <= 100);
comment on column public.resources.guide is 'Slug of the guide whose file this is. Resources of one guide share a card.';
comment on column public.resources.file_language is 'Language of the file, if it has one.';
comment on column public.resources.version is 'Grows with each change of an editor. A change names the version that it saw.';

create function private.guide_of_file() returns trigger
language plpgsql set search_path = ''
as $$
declare
  parts constant text[] := regexp_match(new.file_url, '([a-z0-9]+(?:-[a-z0-9]+)*)\.(en|so)\.[a-z0-9]+$');
begin
  if new.guide is null and new.file_language is null and parts is not null and char_length(parts[1]) <= 100 then
    new.guide := parts[1];
    new.file_language := parts[2]::public.site_language;
  end if;
  return new;
end $$;
comment on function private.guide_of_file() is 'Gives a new resource the guide and the language that its file''s name has; for triggers.';
revoke all on function private.guide_of_file() from public;
create trigger resources_guide before insert on public.resources for each row execute function private.guide_of_file();
update public.resources as r
   set guide = p.parts[1], file_language = p.parts[2]::public.site_language
  from (select o.id, regexp_match(o.file_url, '([a-z0-9]+(?:-[a-z0-9]+)*)\.(en|so)\.[a-z0-9]+$') as parts from public.resources as o) as p
 where p.id = r.id and p.parts is not null and char_length(p.parts[1]) <= 100;

create function private.count_resource_version() returns trigger
language plpgsql set search_path = ''
as $$
begin
  new.version := old.version + 1;
  return new;
end $$;
comment on function private.count_resource_version() is 'Raises the version of a resource that an editor changes; for triggers.';
revoke all on function private.count_resource_version() from public;

drop trigger resources_updated_at on public.resources;
create trigger resources_updated_at
  before update of title, title_so, description, description_so, category, category_so, icon_name, color_class,
    file_url, file_size, file_type, is_active, is_featured, guide, file_language on public.resources
  for each row execute function private.touch();
create trigger resources_version
  before update of title, title_so, description, description_so, category, category_so, icon_name, color_class,
    file_url, file_size, file_type, is_active, is_featured, guide, file_language on public.resources
  for each row execute function private.count_resource_version();
drop trigger resources_trail_update on public.resources;
create trigger resources_trail_update after update of title, title_so, description, description_so, category, category_so, icon_name,
    color_class, file_url, file_size, file_type, is_active, is_featured, guide, file_language, created_at on public.resources
  for each row execute function private.trail_resource();
create or replace function private.trail_resource() returns trigger
language plpgsql security definer set search_path = ''
as $$
declare
  changes jsonb;
begin
  if tg_op = 'INSERT' then
    perform private.write_trail('add', 'resource', new.id::text, new.title);
  elsif tg_op = 'DELETE' then
    perform private.write_trail('delete', 'resource', old.id::text, old.title);
  else
    select jsonb_object_agg(n.key, case when n.key in ('is_active', 'is_featured', 'file_url') then n.value else '"changed"' end) into changes
      from jsonb_each(to_jsonb(new)) as n
     where n.value is distinct from to_jsonb(old) -> n.key and n.key not in ('updated_at', 'download_count', 'version');
    if changes is not null then
      perform private.write_trail('change', 'resource', new.id::text, new.title, changes);
    end if;
  end if;
  return null;
end $$;

grant insert (guide, file_language), update (guide, file_language) on table public.resources to authenticated;

-- Open desks hear that a resource changed. A counted download is no change.
create function private.tell_editors() returns trigger
language plpgsql security definer set search_path = ''
as $$
begin
  perform realtime.send('{}', 'changed', 'resources', true);
  return null;
end $$;
comment on function private.tell_editors() is 'Tells open desks that resources changed; for triggers.';
revoke all on function private.tell_editors() from public;
create trigger resources_tell after insert or delete on public.resources
  for each statement execute function private.tell_editors();
create trigger resources_tell_change after update of title, title_so, description, description_so, category, category_so, icon_name,
    color_class, file_url, file_size, file_type, is_active, is_featured, guide, file_language, created_at on public.resources
  for each statement execute function private.tell_editors();
create policy "editors hear of changes" on realtime.messages for select to authenticated
  using (extension = 'broadcast' and (select realtime.topic()) = 'resources' and (select private.is_editor()));

-- The members of Realtime's topics are checked again when a role or a session ends.
create or replace function private.tell_staff() returns trigger
language plpgsql security definer set search_path = ''
as $$
begin
  if tg_op = 'DELETE' then
    if not exists (select from gone) then
      return null;
    end if;
  end if;
  perform realtime.send('{}', 'policies_changed', 'staff', true);
  perform realtime.send('{}', 'policies_changed', 'reports', true);
  perform realtime.send('{}', 'policies_changed', 'resources', true);
  return null;
end $$;
