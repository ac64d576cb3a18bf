-- What the functions remember between calls, shared by every replica. Nothing here names a visitor: keys are hashes.

create table private.idempotency_keys (
  key_hash text primary key,
  body_hash text not null,
  report_id uuid not null,
  reference text not null,
  photo_kept boolean,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
comment on table private.idempotency_keys is
  'One row per accepted report, so that a repeated post gets the first one''s reply. It outlives the report itself: a late retry must not bring a deleted report back.';
comment on column private.idempotency_keys.key_hash is 'SHA-256 of the Idempotency-Key, or a keyed hash of the fields where none was sent.';
comment on column private.idempotency_keys.body_hash is 'Keyed hash of the fields: the same key with other fields is refused.';
comment on column private.idempotency_keys.report_id is 'The report that was accepted.';
comment on column private.idempotency_keys.reference is 'Its reference, for the reply.';
comment on column private.idempotency_keys.photo_kept is 'Whether the photo was attached; empty when none was sent.';
comment on column private.idempotency_keys.created_at is 'When the report was accepted, for the reply.';
comment on column private.idempotency_keys.expires_at is 'When the record is pruned and the key may be used anew.';

-- Not logged: losing it in a crash only forgives what was counted, and counting costs no disk flush.
create unlogged table private.request_limits (
  client text not null,
  name text not null,
  started_at timestamptz not null default now(),
  requests integer not null default 1,
  primary key (client, name)
) with (fillfactor = 50);
comment on table private.request_limits is 'Requests of each client in its current window.';
comment on column private.request_limits.client is 'Keyed hash of the client''s address with the salt of the day; no address can be found from it.';
comment on column private.request_limits.name is 'What is limited.';
comment on column private.request_limits.started_at is 'When the window began: the client''s first request in it.';
comment on column private.request_limits.requests is 'Requests since then.';

-- PT429 is how PostgREST, too, is told to answer 429. A refused request is undone with all that came with it, so a window
-- never counts more than what it allows.
create function private.count_request(client text, name text, most integer, period interval) returns void
language plpgsql volatile
as $$
declare
  counted private.request_limits;
begin
  insert into private.request_limits as l (client, name)
  values (count_request.client, count_request.name)
  on conflict on constraint request_limits_pkey do update
    set requests = case when l.started_at <= now() - period then 1 else l.requests + 1 end,
        started_at = case when l.started_at <= now() - period then now() else l.started_at end
  returning * into counted;
  if counted.requests > most then
    raise sqlstate 'PT429' using
      message = 'Too many requests.',
      detail = greatest(1, ceil(extract(epoch from counted.started_at + period - now())))::bigint;
  end if;
end $$;
comment on function private.count_request(text, text, integer, interval) is
  'Counts a request of a client; beyond the most in a period it raises PT429, with the seconds that are left as the detail.';
revoke all on function private.count_request(text, text, integer, interval) from public;
grant execute on function private.count_request(text, text, integer, interval) to service_role;

create table private.daily_salts (
  day date primary key,
  salt bytea not null default extensions.gen_random_bytes(32)
);
comment on table private.daily_salts is 'Salt of the day for hashing client addresses; thrown away with the day, and the hashes'' meaning with it.';
comment on column private.daily_salts.day is 'The day, in UTC.';
comment on column private.daily_salts.salt is '32 random bytes.';

create table private.secrets (
  name text primary key,
  value bytea not null default extensions.gen_random_bytes(32)
);
comment on table private.secrets is 'Keys that every replica must share, made on first use.';
comment on column private.secrets.name is 'What the key is for.';
comment on column private.secrets.value is '32 random bytes.';

alter table private.idempotency_keys enable row level security;
alter table private.request_limits enable row level security;
alter table private.daily_salts enable row level security;
alter table private.secrets enable row level security;
revoke all on all tables in schema private from public, anon, authenticated;
grant select, insert, update, delete on all tables in schema private to service_role;
