-- Two buckets: photos of reported products (private, visitors may only add) and the downloads (public).

insert into storage.buckets (id, name, public, file_size_limit, allowed_mime_types)
values
  ('report-photos', 'report-photos', false, 5242880,
   array['image/jpeg', 'image/png', 'image/webp', 'image/gif', 'image/heic', 'image/heif', 'image/avif', 'image/bmp']),
  ('resources', 'resources', true, 20971520,
   array['application/pdf', 'image/jpeg', 'image/png', 'image/gif', 'application/msword', 'application/vnd.ms-powerpoint',
         'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
         'application/vnd.openxmlformats-officedocument.presentationml.presentation'])
on conflict (id) do update
  set public = excluded.public, file_size_limit = excluded.file_size_limit, allowed_mime_types = excluded.allowed_mime_types;

-- Photos whose report never came wait a day before they are deleted. Together they may take 500 MB, so that nobody can
-- fill the disk through the open upload.
create function private.unattached_photo_bytes() returns bigint
language sql stable security definer set search_path = ''
as $$
  select coalesce(sum((o.metadata ->> 'size')::bigint), 0)::bigint
    from storage.objects as o
   where o.bucket_id = 'report-photos'
     and not exists (select from public.reports as r where r.photo_url = o.name)
$$;
comment on function private.unattached_photo_bytes() is 'Bytes of the photos in report-photos that belong to no report.';
revoke all on function private.unattached_photo_bytes() from public;
grant execute on function private.unattached_photo_bytes() to service_role;

-- A full waiting room is raised as 53300, the one SQLSTATE that storage services answer with 429: come again later.
create function private.may_upload_report_photo(object_name text) returns boolean
language plpgsql stable security definer set search_path = ''
as $$
begin
  if object_name !~ '^[0-9]{13}(\.[A-Za-z0-9]{1,5})?$' then
    return false;
  end if;
  if private.unattached_photo_bytes() >= 500000000 then
    raise sqlstate '53300' using
      message = 'Too many photos are waiting for their report. Try again later, or send the report without a photo.';
  end if;
  return true;
end $$;
comment on function private.may_upload_report_photo(text) is 'Whether a visitor may add a photo of this name; raises 53300 when too many wait for their report.';
revoke all on function private.may_upload_report_photo(text) from public;
grant execute on function private.may_upload_report_photo(text) to anon, authenticated, service_role;

-- CASE, because AND does not promise its order and the room is to be counted for this bucket only.
create policy "visitors add report photos" on storage.objects
  for insert to anon, authenticated
  with check (case when bucket_id = 'report-photos' then private.may_upload_report_photo(name) else false end);
