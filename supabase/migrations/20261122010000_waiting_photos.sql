-- Photos that wait for their report: how many there are, who may claim them, and how many one network may add.

create table private.waiting_photos (
  name text primary key,
  sent_as text not null,
  bytes bigint not null,
  client text,
  claim text,
  created_at timestamptz not null default now()
);
comment on table private.waiting_photos is 'Photos in report-photos that belong to no report. A trigger on storage.objects keeps it.';
comment on column private.waiting_photos.name is 'Name of the object.';
comment on column private.waiting_photos.sent_as is 'Name that the uploader gave it. It differs if the name was taken.';
comment on column private.waiting_photos.bytes is 'Size of the object.';
comment on column private.waiting_photos.client is 'Keyed hash of the uploader''s network with the salt of the day; empty for networks without a limit.';
comment on column private.waiting_photos.claim is 'SHA-256 of the token that the report must show; empty if the uploader sent none.';
comment on column private.waiting_photos.created_at is 'When the upload ended.';
create index waiting_photos_sent_as on private.waiting_photos (sent_as);

create table private.waiting_photo_totals (
  client text primary key,
  photos bigint not null,
  bytes bigint not null
) with (fillfactor = 50);
comment on table private.waiting_photo_totals is 'Running sums of private.waiting_photos: one row for each client, and one named all.';
comment on column private.waiting_photo_totals.client is 'As in private.waiting_photos, or all.';
comment on column private.waiting_photo_totals.photos is 'Number of waiting photos.';
comment on column private.waiting_photo_totals.bytes is 'Their bytes.';

alter table private.waiting_photos enable row level security;
alter table private.waiting_photo_totals enable row level security;
revoke all on table private.waiting_photos, private.waiting_photo_totals from public, anon, authenticated;
grant select, insert, update, delete on table private.waiting_photos, private.waiting_photo_totals to service_role;

-- The hash is that of the function host (schema edge_functions), so a report can be compared with an upload. Private networks
-- and this machine have no limit: there, all clients may share the address of a proxy or of the functions.
create function private.upload_client() returns text
language plpgsql volatile security definer set search_path = ''
as $$
declare
  address inet;
  key bytea;
begin
  address := nullif(current_setting('request.headers', true), '')::jsonb ->> 'x-forwarded-for';
  if address is null or address << any (array['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '127.0.0.0/8', 'fc00::/7', 'fe80::/10']::inet[])
     or address = '::1' then
    return null;
  end if;
  if to_regclass('edge_functions.daily_salts') is null then
    return null;
  end if;
  insert into edge_functions.daily_salts (day) values ((now() at time zone 'utc')::date) on conflict do nothing;
  select salt into key from edge_functions.daily_salts where day = (now() at time zone 'utc')::date;
  return encode(substr(extensions.hmac(
    convert_to(case family(address) when 6 then set_masklen(address, 64)::cidr::text else host(address) end, 'utf8'), key, 'sha256'), 1, 16), 'hex');
exception when invalid_text_representation then
  return null; -- several addresses: no gateway of ours in front
end $$;
comment on function private.upload_client() is 'Keyed hash of the network that sends the current upload; null for networks without a limit.';
revoke all on function private.upload_client() from public;

-- One client may take a quarter of what is free, as more clients take theirs. So no number of clients leaves nothing, and many
-- visitors behind one address still find enough. 53300 is the one SQLSTATE that storage services answer with 429.
create function private.count_waiting_photo(client text, photos bigint, bytes bigint) returns void
language plpgsql volatile security definer set search_path = ''
as $$
declare
  most_photos constant bigint := 5000;
  most_bytes constant bigint := 500000000;
  everyone private.waiting_photo_totals;
  own private.waiting_photo_totals;
begin
  if current_setting('daawo.recount', true) = 'on' then
    return;
  end if;
  insert into private.waiting_photo_totals as t (client, photos, bytes)
  values ('all', count_waiting_photo.photos, count_waiting_photo.bytes)
  on conflict on constraint waiting_photo_totals_pkey do update set photos = t.photos + excluded.photos, bytes = t.bytes + excluded.bytes
  returning * into everyone;
  if count_waiting_photo.client is not null then
    insert into private.waiting_photo_totals as t (client, photos, bytes)
    values (count_waiting_photo.client, count_waiting_photo.photos, count_waiting_photo.bytes)
    on conflict on constraint waiting_photo_totals_pkey do update set photos = t.photos + excluded.photos, bytes = t.bytes + excluded.bytes
    returning * into own;
    if own.photos <= 0 then
      delete from private.waiting_photo_totals as t where t.client = own.client;
    end if;
  end if;
  if count_waiting_photo.photos > 0 and (everyone.photos > most_photos or everyone.bytes > most_bytes
      or 4 * own.photos > most_photos - everyone.photos or 4 * own.bytes > most_bytes - everyone.bytes) then
    raise sqlstate '53300' using
      message = 'Too many photos are waiting for their report. Try again later, or send the report without a photo.';
  end if;
end $$;
comment on function private.count_waiting_photo(text, bigint, bigint) is
  'Adds to the running sums of the waiting photos; raises 53300 when an upload would exceed the limit of its client or of all.';
revoke all on function private.count_waiting_photo(text, bigint, bigint) from public;

create function private.sum_waiting_photos() returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
begin
  if tg_op = 'INSERT' then
    perform private.count_waiting_photo(new.client, 1, new.bytes);
  elsif tg_op = 'DELETE' then
    perform private.count_waiting_photo(old.client, -1, -old.bytes);
  elsif new.bytes <> old.bytes then
    perform private.count_waiting_photo(old.client, 0, new.bytes - old.bytes);
  end if;
  return null;
end $$;
comment on function private.sum_waiting_photos() is 'Keeps private.waiting_photo_totals.';
revoke all on function private.sum_waiting_photos() from public;
create trigger waiting_photos_sum after insert or update or delete on private.waiting_photos
  for each row execute function private.sum_waiting_photos();

-- Storage services first try the insert as the visitor and roll it back. Then the size is the declared one.
create function private.track_waiting_photo() returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
declare
  token text;
  size bigint;
begin
  if tg_op = 'DELETE' then
    delete from private.waiting_photos as w where w.name = old.name;
    return null;
  end if;
  size := coalesce(new.metadata ->> 'size', new.metadata ->> 'contentLength', '0')::bigint;
  if tg_op = 'UPDATE' then
    update private.waiting_photos as w set bytes = size where w.name = new.name;
    return null;
  end if;
  token := to_jsonb(new) -> 'user_metadata' ->> 'claim';
  insert into private.waiting_photos (name, sent_as, bytes, client, claim)
  values (new.name, regexp_replace(new.name, '^([0-9]{13})-[a-z2-7]{12}(\.|$)', '\1\2'), size, private.upload_client(),
    case when token <> '' then encode(extensions.digest(token, 'sha256'), 'hex') end);
  return null;
end $$;
comment on function private.track_waiting_photo() is 'Keeps private.waiting_photos; for triggers on storage.objects.';
revoke all on function private.track_waiting_photo() from public;

create trigger report_photo_added after insert on storage.objects
  for each row when (new.bucket_id = 'report-photos') execute function private.track_waiting_photo();
create trigger report_photo_changed after update of metadata on storage.objects
  for each row when (new.bucket_id = 'report-photos') execute function private.track_waiting_photo();
create trigger report_photo_removed after delete on storage.objects
  for each row when (old.bucket_id = 'report-photos') execute function private.track_waiting_photo();

create function private.claim_photo() returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
begin
  delete from private.waiting_photos as w where w.name = new.photo_url;
  return null;
end $$;
comment on function private.claim_photo() is 'Ends the waiting of a report''s photo; for triggers on public.reports.';
revoke all on function private.claim_photo() from public;
create trigger report_photo_claimed after insert or update of photo_url on public.reports
  for each row when (new.photo_url is not null) execute function private.claim_photo();

-- Rows that were written without triggers, such as by a restore of single tables, or moved by hand.
create function private.recount_waiting_photos() returns void
language plpgsql volatile security definer set search_path = ''
as $$
begin
  lock table private.waiting_photos in share row exclusive mode;
  perform set_config('daawo.recount', 'on', true);
  delete from private.waiting_photos as w
   where not exists (select from storage.objects as o where o.bucket_id = 'report-photos' and o.name = w.name)
      or exists (select from public.reports as r where r.photo_url = w.name);
  insert into private.waiting_photos (name, sent_as, bytes, created_at)
  select o.name, o.name, coalesce((o.metadata ->> 'size')::bigint, 0), o.created_at
    from storage.objects as o
   where o.bucket_id = 'report-photos'
     and not exists (select from public.reports as r where r.photo_url = o.name)
     and not exists (select from private.waiting_photos as w where w.name = o.name);
  delete from private.waiting_photo_totals;
  insert into private.waiting_photo_totals (client, photos, bytes)
  select 'all', count(*), coalesce(sum(bytes), 0)::bigint from private.waiting_photos
  union all
  select client, count(*), sum(bytes)::bigint from private.waiting_photos where client is not null group by client;
  perform set_config('daawo.recount', '', true);
end $$;
comment on function private.recount_waiting_photos() is 'Brings the waiting photos and their sums in line with storage and the reports.';
revoke all on function private.recount_waiting_photos() from public;
grant execute on function private.recount_waiting_photos() to service_role;
select private.recount_waiting_photos();

-- Which photo a report may take: the one whose token it shows. An uploader without a token is known by its network only.
create function private.photo_for(photo text, claim text, client text) returns text
language sql stable set search_path = ''
as $$
  select w.name
    from private.waiting_photos as w
   where w.sent_as = photo_for.photo
     and case when w.claim is not null then w.claim = photo_for.claim
              else w.client is null or photo_for.client = '' or w.client = photo_for.client end
   order by w.name = photo_for.photo desc, w.created_at
   limit 1
$$;
comment on function private.photo_for(text, text, text) is
  'Name of the waiting photo that a report may take, or null. claim is the SHA-256 of the report''s token; client is as in waiting_photos.';
revoke all on function private.photo_for(text, text, text) from public;
grant execute on function private.photo_for(text, text, text) to service_role;

-- The running sums answer at once; the trigger decides. Visitors get no signed upload addresses and replace nothing: those
-- replies would tell which names exist.
create or replace function private.may_upload_report_photo(object_name text) returns boolean
language plpgsql stable security definer set search_path = ''
as $$
begin
  if object_name !~ '^[0-9]{13}(-[a-z2-7]{12})?(\.[A-Za-z0-9]{1,5})?$' then
    return false;
  end if;
  if current_setting('storage.operation', true) in ('storage.object.sign_upload_url', 'storage.object.upload_update') then
    return false;
  end if;
  if exists (select from private.waiting_photo_totals where client = 'all' and (photos >= 5000 or bytes >= 500000000)) then
    raise sqlstate '53300' using
      message = 'Too many photos are waiting for their report. Try again later, or send the report without a photo.';
  end if;
  return true;
end $$;

create or replace function private.unattached_photo_bytes() returns bigint
language sql stable security definer set search_path = ''
as $$
  select coalesce((select bytes from private.waiting_photo_totals where client = 'all'), 0)
$$;
