-- A reviewer signs off the files that were read. Another file raises the version of its guide, also when the guide has no
-- review yet: the sign-off of the version with the earlier file is then refused.

create or replace function private.guide_of_resource() returns trigger
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
       where g.slug in (old.guide, new.guide);
    end if;
  elsif new.file_url <> '#' then
    update public.guides as g set reviewed_by = null, reviewed_role = null, reviewed_on = null, review_due = null
     where g.slug = new.guide;
  end if;
  return new;
end $$;
