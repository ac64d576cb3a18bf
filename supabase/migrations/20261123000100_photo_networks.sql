-- Waiting photos are counted for each network of their uploader, because one home line has many networks of the smallest size.

alter table private.waiting_photos add column networks text[] not null default '{}';
comment on column private.waiting_photos.networks is
  'Keyed hashes of the networks of the uploader, the smallest first, which is client: IPv6 /64, /56, /48; IPv4 /32, /24. Empty for networks without a limit.';
update private.waiting_photos set networks = array[client] where client is not null;

create function private.upload_networks() returns text[]
language plpgsql volatile security definer set search_path = ''
as $$
declare
  address inet;
  key bytea;
  names text[];
begin
  address := nullif(current_setting('request.headers', true), '')::jsonb ->> 'x-forwarded-for';
  if address is null or address << any (array['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '127.0.0.0/8', 'fc00::/7', 'fe80::/10']::inet[])
     or address = '::1' then
    return '{}';
  end if;
  if to_regclass('edge_functions.daily_salts') is null then
    return '{}';
  end if;
  insert into edge_functions.daily_salts (day) values ((now() at time zone 'utc')::date) on conflict do nothing;
  select salt into key from edge_functions.daily_salts where day = (now() at time zone 'utc')::date;
  names := case family(address)
    when 6 then array[set_masklen(address, 64)::cidr::text, set_masklen(address, 56)::cidr::text, set_masklen(address, 48)::cidr::text]
    else array[host(address), set_masklen(address, 24)::cidr::text] end;
  return array(select encode(substr(extensions.hmac(convert_to(n.name, 'utf8'), key, 'sha256'), 1, 16), 'hex')
                 from unnest(names) with ordinality as n (name, place) order by n.place);
exception when invalid_text_representation then
  return '{}'; -- several addresses: no gateway of ours in front
end $$;
comment on function private.upload_networks() is
  'Keyed hashes of the networks that send the current upload, the smallest first; empty for networks without a limit.';

-- A client and the networks of a home line or a site of IPv6 may each take a quarter of what is free, a /24 of IPv4 half.
create function private.count_waiting_photo(networks text[], photos bigint, bytes bigint) returns void
language plpgsql volatile security definer set search_path = ''
as $$
declare
  most_photos constant bigint := 5000;
  most_bytes constant bigint := 500000000;
  everyone private.waiting_photo_totals;
  own private.waiting_photo_totals;
  part bigint;
begin
  if current_setting('daawo.recount', true) = 'on' then
    return;
  end if;
  insert into private.waiting_photo_totals as t (client, photos, bytes)
  values ('all', count_waiting_photo.photos, count_waiting_photo.bytes)
  on conflict on constraint waiting_photo_totals_pkey do update set photos = t.photos + excluded.photos, bytes = t.bytes + excluded.bytes
  returning * into everyone;
  if count_waiting_photo.photos > 0 and (everyone.photos > most_photos or everyone.bytes > most_bytes) then
    perform private.refuse_waiting_photo();
  end if;
  for place in 1 .. coalesce(cardinality(count_waiting_photo.networks), 0) loop
    insert into private.waiting_photo_totals as t (client, photos, bytes)
    values (count_waiting_photo.networks[place], count_waiting_photo.photos, count_waiting_photo.bytes)
    on conflict on constraint waiting_photo_totals_pkey do update set photos = t.photos + excluded.photos, bytes = t.bytes + excluded.bytes
    returning * into own;
    if own.photos <= 0 then
      delete from private.waiting_photo_totals as t where t.client = own.client;
    end if;
    part := case when place = 2 and cardinality(count_waiting_photo.networks) = 2 then 2 else 4 end;
    if count_waiting_photo.photos > 0
       and (part * own.photos > most_photos - everyone.photos or part * own.bytes > most_bytes - everyone.bytes) then
      perform private.refuse_waiting_photo();
    end if;
  end loop;
end $$;
comment on function private.count_waiting_photo(text[], bigint, bigint) is
  'Adds to the running sums of the waiting photos; raises 53300 when an upload would exceed the limit of one of its networks or of all.';

create function private.refuse_waiting_photo() returns void
language plpgsql immutable set search_path = ''
as $$
begin
  raise sqlstate '53300' using
    message = 'Too many photos are waiting for their report. Try again later, or send the report without a photo.';
end $$;
comment on function private.refuse_waiting_photo() is 'Raises 53300, the one SQLSTATE that storage services answer with 429.';

create or replace function private.sum_waiting_photos() returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
begin
  if tg_op = 'INSERT' then
    perform private.count_waiting_photo(new.networks, 1, new.bytes);
  elsif tg_op = 'DELETE' then
    perform private.count_waiting_photo(old.networks, -1, -old.bytes);
  elsif new.bytes <> old.bytes then
    perform private.count_waiting_photo(old.networks, 0, new.bytes - old.bytes);
  end if;
  return null;
end $$;
drop function private.count_waiting_photo(text, bigint, bigint);

create or replace function private.track_waiting_photo() returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
declare
  token text;
  size bigint;
  sent_from text[];
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
  sent_from := private.upload_networks();
  insert into private.waiting_photos (name, sent_as, bytes, client, networks, claim)
  values (new.name, regexp_replace(new.name, '^([0-9]{13})-[a-z2-7]{12}(\.|$)', '\1\2'), size, sent_from[1], sent_from,
    case when token <> '' then encode(extensions.digest(token, 'sha256'), 'hex') end);
  return null;
end $$;
drop function private.upload_client();

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
  select 'all', count(*), coalesce(sum(bytes), 0)::bigint from private.waiting_photos
  union all
  select n.name, count(*), sum(w.bytes)::bigint from private.waiting_photos as w, unnest(w.networks) as n (name) group by n.name;
  perform set_config('daawo.recount', '', true);
end $$;

comment on table private.waiting_photo_totals is 'Running sums of private.waiting_photos: one row for each network, and one named all.';
comment on column private.waiting_photo_totals.client is 'A network as in private.waiting_photos, or all.';
revoke all on function private.upload_networks(), private.count_waiting_photo(text[], bigint, bigint), private.refuse_waiting_photo() from public;
