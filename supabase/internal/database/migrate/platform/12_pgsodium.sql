-- The table of pgsodium's keys, for servers without pgsodium: dumps of Supabase projects fill it and set its sequence.
do $$
begin
  if to_regclass('pgsodium.key') is not null
     or exists (select from pg_available_extensions where name = 'pgsodium' and comment not like 'Placeholder%') then
    return;
  end if;
  create type pgsodium.key_status as enum ('default', 'valid', 'invalid', 'expired');
  create type pgsodium.key_type as enum (
    'aead-ietf', 'aead-det', 'hmacsha512', 'hmacsha256', 'auth', 'shorthash', 'generichash', 'kdf', 'secretbox',
    'secretstream', 'stream_xchacha20'
  );
  create sequence pgsodium.key_key_id_seq;
  create table pgsodium.key (
    id              uuid primary key default gen_random_uuid(),
    status          pgsodium.key_status default 'valid',
    created         timestamptz not null default current_timestamp,
    expires         timestamptz,
    key_type        pgsodium.key_type,
    key_id          bigint default nextval('pgsodium.key_key_id_seq'),
    key_context     bytea default '\x7067736f6469756d' check (length(key_context) = 8),
    name            text unique,
    associated_data text default 'associated',
    raw_key         bytea,
    raw_key_nonce   bytea,
    parent_key      uuid references pgsodium.key (id),
    comment         text,
    user_data       text
  );
  comment on table pgsodium.key is 'Keys from dumps of Supabase projects. Nothing here uses them.';
  alter sequence pgsodium.key_key_id_seq owned by pgsodium.key.key_id;
  grant usage on schema pgsodium to postgres;
  grant all on pgsodium.key to postgres;
  grant all on sequence pgsodium.key_key_id_seq to postgres;
end
$$;
