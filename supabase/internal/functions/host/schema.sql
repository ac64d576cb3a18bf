-- What the hosts of edge functions share between replicas. It holds no address and no name of a client: keys are hashes.
-- The script runs once, and may run again after an interruption.
begin;
-- The platform has created the schema where a superuser could. It belongs to another role then.
do $$ begin
  if to_regnamespace('edge_functions') is null then
    create schema edge_functions;
    comment on schema edge_functions is 'Keys and counters of the edge functions, shared by all replicas.';
  end if;
end $$;
grant usage on schema edge_functions to service_role;

-- Unlogged: a crash only resets the counters, and counting costs no disk flush.
create unlogged table if not exists edge_functions.request_limits (
  client text not null,
  name text not null,
  started_at timestamptz not null default now(),
  requests integer not null default 1,
  primary key (client, name)
) with (fillfactor = 50);
comment on table edge_functions.request_limits is 'Requests of each client in its current window.';
comment on column edge_functions.request_limits.client is 'Keyed hash of the client''s address with the salt of the day.';
comment on column edge_functions.request_limits.name is 'Name of the limit.';
comment on column edge_functions.request_limits.started_at is 'Time of the client''s first request in the window.';
comment on column edge_functions.request_limits.requests is 'Requests since then.';

create table if not exists edge_functions.daily_salts (
  day date primary key,
  salt bytea not null default extensions.gen_random_bytes(32)
);
comment on table edge_functions.daily_salts is 'Salts for hashing client addresses. A salt is deleted after its day, so that its hashes can no longer be linked to an address.';
comment on column edge_functions.daily_salts.day is 'The day, in UTC.';
comment on column edge_functions.daily_salts.salt is '32 random bytes.';

create table if not exists edge_functions.secrets (
  name text primary key,
  value bytea not null default extensions.gen_random_bytes(32)
);
comment on table edge_functions.secrets is 'Secret keys of functions, created on first use.';
comment on column edge_functions.secrets.name is 'Name of the key.';
comment on column edge_functions.secrets.value is '32 random bytes.';

alter table edge_functions.request_limits enable row level security;
alter table edge_functions.daily_salts enable row level security;
alter table edge_functions.secrets enable row level security;
grant select, insert, update, delete on all tables in schema edge_functions to service_role;

-- PT429 is how PostgREST is told to answer 429, too. A refused request is rolled back with its transaction, so a window
-- never counts more than its limit. A window that starts more than a period in the future was counted while the clock was
-- ahead, and starts again.
create or replace function edge_functions.count_request(client text, name text, most integer, period interval) returns void
language plpgsql volatile
set search_path = ''
as $$
declare
  counted edge_functions.request_limits;
begin
  insert into edge_functions.request_limits as l (client, name)
  values (count_request.client, count_request.name)
  on conflict on constraint request_limits_pkey do update
    set requests = case when l.started_at > now() - period and l.started_at < now() + period then l.requests + 1 else 1 end,
        started_at = case when l.started_at > now() - period and l.started_at < now() + period then l.started_at else now() end
  returning * into counted;
  if counted.requests > most then
    raise sqlstate 'PT429' using
      message = 'Too many requests.',
      detail = greatest(1, ceil(extract(epoch from counted.started_at + period - now())))::bigint;
  end if;
end $$;
comment on function edge_functions.count_request(text, text, integer, interval) is
  'Counts a request of a client. Beyond the limit it raises PT429 with the remaining seconds of the window as the detail.';
revoke all on function edge_functions.count_request(text, text, integer, interval) from public;
grant execute on function edge_functions.count_request(text, text, integer, interval) to service_role;
commit;
