-- Resources in the desk: editors write them directly, under policies, and triggers write the trail.

create function private.trail_resource() returns trigger
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
     where n.value is distinct from to_jsonb(old) -> n.key and n.key not in ('updated_at', 'download_count');
    if changes is not null then
      perform private.write_trail('change', 'resource', new.id::text, new.title, changes);
    end if;
  end if;
  return null;
end $$;
comment on function private.trail_resource() is 'Writes changes of resources to the trail; for triggers. Counting a download is none.';
revoke all on function private.trail_resource() from public;
create trigger resources_trail_insert after insert or delete on public.resources for each row execute function private.trail_resource();
create trigger resources_trail_update after update of title, title_so, description, description_so, category, category_so, icon_name,
    color_class, file_url, file_size, file_type, is_active, is_featured, created_at on public.resources
  for each row execute function private.trail_resource();

grant insert (title, title_so, description, description_so, category, category_so, icon_name, color_class, file_url, file_size,
  file_type, is_active, is_featured), update (title, title_so, description, description_so, category, category_so, icon_name,
  color_class, file_url, file_size, file_type, is_active, is_featured), delete on table public.resources to authenticated;
create policy "editors see every resource" on public.resources
  for select to authenticated using ((select private.is_editor()));
create policy "editors add resources" on public.resources
  for insert to authenticated with check ((select private.is_editor()));
create policy "editors change resources" on public.resources
  for update to authenticated using ((select private.is_editor())) with check ((select private.is_editor()));
create policy "editors delete resources" on public.resources
  for delete to authenticated using ((select private.is_editor()));

-- Visitors see the newest first. Moving a resource exchanges its time with that of its neighbour.
create function public.move_resource(resource uuid, up boolean) returns void
language plpgsql volatile security definer set search_path = ''
as $$
declare
  this public.resources;
  other public.resources;
begin
  if not private.is_editor() then
    raise exception 'editors only' using errcode = '42501';
  end if;
  lock table public.resources in share row exclusive mode;
  select r.* into this from public.resources as r where r.id = move_resource.resource;
  if not found then
    raise exception 'no resource has this id' using errcode = 'P0002';
  end if;
  if up then
    select r.* into other from public.resources as r where (r.created_at, r.id) > (this.created_at, this.id) order by r.created_at, r.id limit 1;
  else
    select r.* into other from public.resources as r where (r.created_at, r.id) < (this.created_at, this.id) order by r.created_at desc, r.id desc limit 1;
  end if;
  if found then
    -- Resources of one seed share a time; a microsecond parts them.
    if this.created_at = other.created_at then
      update public.resources as r set created_at = r.created_at + case when up then 1 else -1 end * interval '1 microsecond' where r.id = this.id;
    else
      update public.resources as r set created_at = case r.id when this.id then other.created_at else this.created_at end
       where r.id in (this.id, other.id);
    end if;
  end if;
end $$;
comment on function public.move_resource(uuid, boolean) is 'Moves a resource one place up or down in the order that visitors see. Editors only.';
revoke all on function public.move_resource(uuid, boolean) from public, anon, authenticated, service_role;
grant execute on function public.move_resource(uuid, boolean) to authenticated;

create policy "editors see files of resources" on storage.objects
  for select to authenticated using (case when bucket_id = 'resources' then (select private.is_editor()) else false end);
create policy "editors add files of resources" on storage.objects
  for insert to authenticated with check (case when bucket_id = 'resources' then (select private.is_editor()) else false end);
create policy "editors replace files of resources" on storage.objects
  for update to authenticated using (case when bucket_id = 'resources' then (select private.is_editor()) else false end)
  with check (case when bucket_id = 'resources' then (select private.is_editor()) else false end);
create policy "editors delete files of resources" on storage.objects
  for delete to authenticated using (case when bucket_id = 'resources' then (select private.is_editor()) else false end);
