-- When all places for waiting photos are taken, the oldest photo of the network with the most gives its place to a newcomer. Until
-- then a few networks could refuse the photos of all others for a day.

alter table private.waiting_photos add column evicted boolean not null default false;
comment on column private.waiting_photos.evicted is 'Whether the photo has lost its place; the function prune removes it.';

-- A place is 100 kB: 5,000 photos and 500 MB are as much. Only a network with less than a tenth of all counts as a newcomer.
create function private.evict_waiting_photos(networks text[], bytes bigint) returns boolean
language plpgsql volatile security definer set search_path = ''
as $$
declare
  place constant bigint := 100000;
  newcomer constant bigint := 500 * place;
  most_evicted constant bigint := 5000 * place; -- until the function prune has run
  own bigint;
  largest text;
  uses bigint;
  freed bigint := 0;
  size bigint;
  evicted private.waiting_photo_totals;
begin
  select coalesce(max(t.photos * place + t.bytes), 0) into own from private.waiting_photo_totals as t where t.client = any (networks);
  if own > newcomer then
    return false;
  end if;
  while freed < place + evict_waiting_photos.bytes loop
    select t.client, t.photos * place + t.bytes into largest, uses from private.waiting_photo_totals as t
     where t.client <> all (networks) and t.client not in ('all', 'evicted')
     order by 2 desc, 1 limit 1;
    if largest is null or uses <= own then
      return false;
    end if;
    update private.waiting_photos as w set evicted = true
     where w.name = (select o.name from private.waiting_photos as o where not o.evicted and largest = any (o.networks) order by o.created_at, o.name limit 1)
    returning w.bytes into size;
    if not found then
      return false;
    end if;
    freed := freed + place + size;
    insert into private.waiting_photo_totals as t (client, photos, bytes) values ('evicted', 1, size)
    on conflict on constraint waiting_photo_totals_pkey do update set photos = t.photos + 1, bytes = t.bytes + excluded.bytes
    returning * into evicted;
    if evicted.photos * place + evicted.bytes > most_evicted then
      return false;
    end if;
  end loop;
  return true;
end $$;
comment on function private.evict_waiting_photos(text[], bigint) is
  'Takes the places of the oldest photos of the networks with the most, for a photo of these bytes from other networks. Returns false if these have too many themselves.';

create or replace function private.count_waiting_photo(networks text[], photos bigint, bytes bigint) returns void
language plpgsql volatile security definer set search_path = ''
as $$
declare
  most_photos constant bigint := 5000;
  most_bytes constant bigint := 500000000;
  everyone private.waiting_photo_totals;
  own private.waiting_photo_totals;
  part bigint;
  crowded boolean;
begin
  if current_setting('daawo.recount', true) = 'on' then
    return;
  end if;
  insert into private.waiting_photo_totals as t (client, photos, bytes)
  values ('all', count_waiting_photo.photos, count_waiting_photo.bytes)
  on conflict on constraint waiting_photo_totals_pkey do update set photos = t.photos + excluded.photos, bytes = t.bytes + excluded.bytes
  returning * into everyone;
  -- At the start of an upload its bytes are 0.
  crowded := everyone.photos > most_photos or everyone.bytes > most_bytes or everyone.bytes - count_waiting_photo.bytes >= most_bytes;
  for place in 1 .. coalesce(cardinality(count_waiting_photo.networks), 0) loop
    insert into private.waiting_photo_totals as t (client, photos, bytes)
    values (count_waiting_photo.networks[place], count_waiting_photo.photos, count_waiting_photo.bytes)
    on conflict on constraint waiting_photo_totals_pkey do update set photos = t.photos + excluded.photos, bytes = t.bytes + excluded.bytes
    returning * into own;
    if own.photos <= 0 then
      delete from private.waiting_photo_totals as t where t.client = own.client;
    end if;
    part := case when place = 2 and cardinality(count_waiting_photo.networks) = 2 then 2 else 4 end;
    crowded := crowded or part * own.photos > most_photos - everyone.photos or part * own.bytes > most_bytes - everyone.bytes;
  end loop;
  if count_waiting_photo.photos > 0 and crowded
     and not private.evict_waiting_photos(coalesce(count_waiting_photo.networks, '{}'), count_waiting_photo.bytes) then
    perform private.refuse_waiting_photo();
  end if;
end $$;
comment on function private.count_waiting_photo(text[], bigint, bigint) is
  'Adds to the running sums of the waiting photos; raises 53300 when an upload would exceed the limit of one of its networks or of all.';

create or replace function private.sum_waiting_photos() returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
begin
  if tg_op = 'INSERT' then
    perform private.count_waiting_photo(new.networks, 1, new.bytes);
  elsif tg_op = 'DELETE' then
    if not old.evicted then
      perform private.count_waiting_photo(old.networks, -1, -old.bytes);
    end if;
  elsif new.evicted then
    if not old.evicted then
      perform private.count_waiting_photo(old.networks, -1, -old.bytes);
    end if;
  elsif new.bytes <> old.bytes then
    perform private.count_waiting_photo(old.networks, 0, new.bytes - old.bytes);
  end if;
  return null;
end $$;

create or replace function private.recount_waiting_photos() returns void
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
  select 'all', count(*), coalesce(sum(bytes), 0)::bigint from private.waiting_photos where not evicted
  union all
  select 'evicted', count(*), coalesce(sum(bytes), 0)::bigint from private.waiting_photos where evicted
  union all
  select n.name, count(*), sum(w.bytes)::bigint from private.waiting_photos as w, unnest(w.networks) as n (name) where not w.evicted group by n.name;
  perform set_config('daawo.recount', '', true);
end $$;

create or replace function private.photo_for(photo text, claim text, client text) returns text
language sql stable set search_path = ''
as $$
  select w.name
    from private.waiting_photos as w
   where w.sent_as = photo_for.photo and not w.evicted
     and case when w.claim is not null then w.claim = photo_for.claim
              else w.client is null or photo_for.client = '' or w.client = photo_for.client end
   order by w.name = photo_for.photo desc, w.created_at
   limit 1
$$;

-- The trigger alone decides whether there is a place.
create or replace function private.may_upload_report_photo(object_name text) returns boolean
language plpgsql stable security definer set search_path = ''
as $$
begin
  return object_name ~ '^[0-9]{13}(-[a-z2-7]{12})?(\.[A-Za-z0-9]{1,5})?$'
    and coalesce(current_setting('storage.operation', true), '') not in ('storage.object.sign_upload_url', 'storage.object.upload_update');
end $$;
comment on function private.may_upload_report_photo(text) is 'Whether a visitor may add a photo of this name.';

comment on table private.waiting_photo_totals is
  'Running sums of private.waiting_photos: one row for each network, one named all, and one named evicted for photos without a place.';
comment on column private.waiting_photo_totals.client is 'A network as in private.waiting_photos, all, or evicted.';
revoke all on function private.evict_waiting_photos(text[], bigint) from public;
