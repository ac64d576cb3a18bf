-- The photo of an opened report could be copied into a public bucket. Only the operations of the desk see it now: an operation
-- that a later storage service brings sees nothing.
create or replace function private.may_see_report_photo(object_name text) returns boolean
language sql stable security definer set search_path = ''
as $$
  select current_setting('storage.operation', true)
      in ('storage.object.get_authenticated', 'storage.object.list', 'storage.object.delete', 'storage.object.delete_many') and (
    private.is_reviewer() and exists (
      select from public.reports as r join public.staff_trail as t on t.subject_id = r.id::text and t.action = 'read'
       where r.photo_url = object_name and t.actor = auth.uid() and t.at > now() - interval '1 hour')
    or private.is_owner() and exists (select from private.photos_to_remove as p where p.name = object_name))
$$;

create function private.refuse_public_photos() returns trigger
language plpgsql set search_path = ''
as $$
begin
  raise exception 'the bucket report-photos cannot be public' using errcode = '23514';
end $$;
comment on function private.refuse_public_photos() is 'Refuses a public bucket of photos of reports, for every role.';
revoke all on function private.refuse_public_photos() from public;
create trigger report_photos_stay_private before insert or update on storage.buckets
  for each row when (new.id = 'report-photos' and new.public) execute function private.refuse_public_photos();
