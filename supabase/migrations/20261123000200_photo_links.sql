-- No account signs a link to the photo of a report, because a link can outlive the role and the account. The desk downloads the photo.
create or replace function private.may_see_report_photo(object_name text) returns boolean
language sql stable security definer set search_path = ''
as $$
  select coalesce(current_setting('storage.operation', true), '') not like 'storage.object.sign%' and (
    private.is_reviewer() and exists (
      select from public.reports as r join public.staff_trail as t on t.subject_id = r.id::text and t.action = 'read'
       where r.photo_url = object_name and t.actor = auth.uid() and t.at > now() - interval '1 hour')
    or private.is_owner() and exists (select from private.photos_to_remove as p where p.name = object_name))
$$;
