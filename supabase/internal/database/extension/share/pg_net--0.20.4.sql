-- The queue of HTTP requests and their responses, with the tables and functions of pg_net. Package extension/pgnet sends the
-- requests. The queue is logged, unlike pg_net's, so that a crash of Postgres loses no request.

create schema if not exists net;

create domain net.http_method as text check (lower(value) in ('get', 'post', 'delete'));

create table net.http_request_queue (
  id                   bigserial,
  method               net.http_method not null,
  url                  text not null,
  headers              jsonb,
  body                 bytea,
  timeout_milliseconds integer not null
);
create index on net.http_request_queue (id);

create unlogged table net._http_response (
  id           bigint,
  status_code  integer,
  content_type text,
  headers      jsonb,
  content      text,
  timed_out    boolean,
  error_msg    text,
  created      timestamptz not null default now()
);
create index on net._http_response (created);
create index on net._http_response (id);

create type net.request_status as enum ('PENDING', 'SUCCESS', 'ERROR');
create type net.http_response as (status_code integer, headers jsonb, body text);
create type net.http_response_result as (status net.request_status, message text, response net.http_response);

-- The sender holds this advisory lock in its database while it works.
create function net._running() returns boolean
language sql stable set search_path = pg_catalog, pg_temp as $$
  select exists (
    select from pg_locks
    where locktype = 'advisory' and objsubid = 1 and granted
      and classid = 6578529 and objid = 2003789176
      and database = (select oid from pg_database where datname = current_database())
  )
$$;

create function net.check_worker_is_up() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if not net._running() then
    raise exception 'the pg_net background worker is not up'
      using detail = 'No program that sends the requests is connected to this database.',
            hint = 'Start the stack with `daawo start`, and see its log.';
  end if;
end
$$;
comment on function net.check_worker_is_up() is 'raises an exception if no worker is connected to this database';

create function net.wait_until_running() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  while not net._running() loop
    perform pg_sleep(0.02);
  end loop;
end
$$;
comment on function net.wait_until_running() is 'waits until the worker is running';

create function net.wake() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform pg_notify('daawo_pg_net', '');
end
$$;
comment on function net.wake() is 'makes the worker look at the queue when the transaction commits';

create function net.worker_restart() returns boolean
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform pg_notify('daawo_pg_net', 'restart');
  return true;
end
$$;
comment on function net.worker_restart() is 'makes the worker read its settings again when the transaction commits';

create function net._urlencode_string(string varchar) returns text
language sql immutable strict set search_path = pg_catalog, pg_temp as $$
  select coalesce(string_agg(
           case when chr(byte) ~ '[A-Za-z0-9._~-]' and byte < 128 then chr(byte)
                else '%' || upper(lpad(to_hex(byte), 2, '0')) end, '' order by place), '')
    from (select convert_to(string, 'UTF8') as bytes) b,
         lateral (select get_byte(b.bytes, p) as byte, p as place from generate_series(0, length(b.bytes) - 1) p) c
$$;

create function net._encode_url_with_params_array(url text, params_array text[]) returns text
language sql immutable strict set search_path = pg_catalog, pg_temp as $$
  select case when cardinality(params_array) = 0 then url
              else base || case when base !~ '[?]' then '?' when base ~ '[?&]$' then '' else '&' end
                        || array_to_string(params_array, '&') || fragment end
    from (select split_part(url, '#', 1) as base, coalesce(substring(url from '#.*$'), '') as fragment) u
$$;

-- _enqueue adds a request. Only the functions of this extension call it.
create function net._enqueue(
  method text, url text, params jsonb, headers jsonb, body jsonb, timeout_milliseconds integer
) returns bigint
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  pairs text[];
  request_id bigint;
begin
  select coalesce(array_agg(net._urlencode_string(key) || '=' || coalesce(net._urlencode_string(value), '')), '{}')
    into pairs from jsonb_each_text(params);
  insert into net.http_request_queue (method, url, headers, body, timeout_milliseconds)
  values (_enqueue.method, net._encode_url_with_params_array(_enqueue.url, pairs), _enqueue.headers,
          convert_to(_enqueue.body::text, 'UTF8'), _enqueue.timeout_milliseconds)
  returning id into request_id;
  perform net.wake();
  return request_id;
end
$$;

create function net.http_get(
  url text, params jsonb default '{}'::jsonb, headers jsonb default '{}'::jsonb, timeout_milliseconds integer default 5000
) returns bigint
language sql security definer set search_path = pg_catalog, pg_temp as $$
  select net._enqueue('GET', url, params, headers, null, timeout_milliseconds)
$$;

create function net.http_post(
  url text, body jsonb default '{}'::jsonb, params jsonb default '{}'::jsonb,
  headers jsonb default '{"Content-Type": "application/json"}'::jsonb, timeout_milliseconds integer default 5000
) returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  content_type text;
begin
  select value into content_type
    from jsonb_each_text(coalesce(http_post.headers, '{}')) where lower(key) = 'content-type' limit 1;
  if content_type is null then
    headers := coalesce(headers, '{}') || '{"Content-Type": "application/json"}';
  elsif content_type <> 'application/json' then
    raise exception 'Content-Type header must be "application/json"';
  end if;
  return net._enqueue('POST', url, params, headers, body, timeout_milliseconds);
end
$$;

create function net.http_delete(
  url text, params jsonb default '{}'::jsonb, headers jsonb default '{}'::jsonb, timeout_milliseconds integer default 5000,
  body jsonb default null
) returns bigint
language sql security definer set search_path = pg_catalog, pg_temp as $$
  select net._enqueue('DELETE', url, params, headers, body, timeout_milliseconds)
$$;

create function net._await_response(request_id bigint) returns boolean
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  while not exists (select from net._http_response where id = request_id) loop
    perform pg_sleep(0.05);
  end loop;
  return true;
end
$$;

create function net._http_collect_response(request_id bigint, async boolean default true) returns net.http_response_result
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  found_ net._http_response;
begin
  if not async then
    perform net._await_response(request_id);
  end if;
  select * into found_ from net._http_response where id = request_id;
  if found_.id is null or found_.error_msg is not null then
    return ('ERROR', coalesce(found_.error_msg, 'request matching request_id not found'), null)::net.http_response_result;
  end if;
  return ('SUCCESS', 'ok', (found_.status_code, found_.headers, found_.content)::net.http_response)::net.http_response_result;
end
$$;

create function net.http_collect_response(request_id bigint, async boolean default true) returns net.http_response_result
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  raise notice 'The net.http_collect_response function is deprecated.';
  return net._http_collect_response(request_id, async);
end
$$;

-- Requests and responses can hold secrets, so only these roles may read them. The functions that add a request run as their
-- owner, so a trigger works for every role.
revoke all on function
  net._enqueue(text, text, jsonb, jsonb, jsonb, integer),
  net.http_get(text, jsonb, jsonb, integer),
  net.http_post(text, jsonb, jsonb, jsonb, integer),
  net.http_delete(text, jsonb, jsonb, integer, jsonb)
from public;

do $$
declare
  role text;
begin
  for role in
    select rolname from pg_roles
    where rolname in ('postgres', 'service_role', 'authenticated', 'anon', 'supabase_functions_admin', (parse_ident('@extowner@'))[1])
  loop
    execute format('grant usage on schema net to %I', role);
    execute format('grant execute on function net.http_get(text, jsonb, jsonb, integer), '
      'net.http_post(text, jsonb, jsonb, jsonb, integer), net.http_delete(text, jsonb, jsonb, integer, jsonb) to %I', role);
    if role not in ('authenticated', 'anon') then
      execute format('grant select, insert, update, delete, truncate on net.http_request_queue, net._http_response to %I', role);
      execute format('grant usage, select on sequence net.http_request_queue_id_seq to %I', role);
    end if;
  end loop;
end
$$;
