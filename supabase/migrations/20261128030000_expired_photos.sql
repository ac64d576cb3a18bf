-- The function prune could delete a photo that a report took while prune was at work, because its list of photos was older than the
-- report. Now a photo loses its place before its file goes, and from then on no report takes it.
create function private.expire_waiting_photos(before timestamptz) returns void
language sql volatile security definer set search_path = ''
as $$
  update private.waiting_photos as w set evicted = true
   where not w.evicted
     and w.name in (select o.name from storage.objects as o where o.bucket_id = 'report-photos' and o.created_at < expire_waiting_photos.before)
$$;
comment on function private.expire_waiting_photos(timestamptz) is 'Takes the places of the waiting photos that were stored before this time.';
revoke all on function private.expire_waiting_photos(timestamptz) from public;
grant execute on function private.expire_waiting_photos(timestamptz) to service_role;

create or replace function private.claim_photo() returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
begin
  delete from private.waiting_photos as w where w.name = new.photo_url and not w.evicted;
  if not found and exists (select from private.waiting_photos as w where w.name = new.photo_url) then
    raise exception 'the photo is being removed' using errcode = '23505', constraint = 'reports_photo';
  end if;
  return null;
end $$;
comment on function private.claim_photo() is
  'Ends the waiting of a report''s photo, or refuses the report as reports_photo if the photo has lost its place; for triggers on public.reports.';
