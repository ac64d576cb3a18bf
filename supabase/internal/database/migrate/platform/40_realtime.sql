-- Realtime: roles, types, tables. With the files 40_realtime_* the schema equals the result of the tenant migrations of
-- supabase/realtime v2.134.10 (September 2026), so each server can take over from the other.

-- The engine logs in with this role. It reads the write-ahead log, owns the messages, and switches to the role of a token.
do $$
begin
  if current_setting('is_superuser') = 'on' then
    alter role supabase_realtime_admin login replication;
    grant set on parameter log_min_messages to supabase_realtime_admin; -- which realtime.list_changes sets
  end if;
end
$$;
grant authenticator to supabase_realtime_admin;

grant usage on schema realtime to postgres with grant option;
grant usage on schema realtime to anon, authenticated, service_role;
grant create, usage on schema realtime to supabase_realtime_admin with grant option;

do $$
begin
  if exists (select from pg_roles where rolname = 'supabase_admin') and pg_has_role(current_user, 'supabase_admin', 'member') then
    alter default privileges for role supabase_admin in schema realtime grant all on tables to postgres, dashboard_user;
    alter default privileges for role supabase_admin in schema realtime grant all on sequences to postgres, dashboard_user;
    alter default privileges for role supabase_admin in schema realtime grant all on functions to postgres, dashboard_user;
  end if;
end
$$;

do $$
begin
  if to_regtype('realtime.action') is null then
    create type realtime.action as enum ('INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'ERROR');
  end if;
  if to_regtype('realtime.equality_op') is null then
    create type realtime.equality_op as enum (
      'eq', 'neq', 'lt', 'lte', 'gt', 'gte', 'in', 'like', 'ilike', 'is', 'match', 'imatch', 'isdistinct'
    );
  end if;
  if to_regtype('realtime.user_defined_filter') is null then
    create type realtime.user_defined_filter as (column_name text, op realtime.equality_op, value text, negate boolean);
  end if;
  if to_regtype('realtime.wal_column') is null then
    create type realtime.wal_column as (
      name text, type_name text, type_oid oid, value jsonb, is_pkey boolean, is_selectable boolean
    );
  end if;
  if to_regtype('realtime.wal_rls') is null then
    create type realtime.wal_rls as (wal jsonb, is_rls_enabled boolean, subscription_ids uuid[], errors text[]);
  end if;
end
$$;

alter type realtime.action owner to supabase_realtime_admin;
alter type realtime.equality_op owner to supabase_realtime_admin;
alter type realtime.user_defined_filter owner to supabase_realtime_admin;
alter type realtime.wal_column owner to supabase_realtime_admin;
alter type realtime.wal_rls owner to supabase_realtime_admin;

-- A generated column of realtime.subscription uses it.
create or replace function realtime.to_regrole(role_name text) returns regrole
  language sql immutable
as $$
  select cast(role_name as regrole)
$$;

-- Broadcasts from the database, kept for three days, one partition per day. The policies on this table decide who may
-- use a private channel.
create table if not exists realtime.messages (
  topic          text      not null,
  extension      text      not null,
  payload        jsonb,
  event          text,
  private        boolean            default false,
  updated_at     timestamp not null default now(),
  inserted_at    timestamp not null default now(),
  id             uuid      not null default gen_random_uuid(),
  binary_payload bytea,
  skip_broadcast boolean   not null default false,
  constraint messages_pkey primary key (id, inserted_at)
) partition by range (inserted_at);

alter table realtime.messages enable row level security;
-- True for a message that its sender has already delivered.
alter table realtime.messages add column if not exists skip_broadcast boolean not null default false;

do $$
begin
  if not exists (select from pg_constraint where conname = 'messages_payload_exclusive' and conrelid = 'realtime.messages'::regclass) then
    alter table realtime.messages add constraint messages_payload_exclusive
      check (payload is null or binary_payload is null) not valid;
  end if;
  if to_regclass('realtime.messages_inserted_at_topic_index') is null then
    create index messages_inserted_at_topic_index on realtime.messages (inserted_at desc, topic)
      where extension = 'broadcast' and private is true;
  end if;
end
$$;

-- The real Realtime keeps its subscriptions here. The engine keeps them in memory.
create table if not exists realtime.subscription (
  id               bigint generated always as identity constraint pk_subscription primary key,
  subscription_id  uuid                           not null,
  entity           regclass                       not null,
  filters          realtime.user_defined_filter[] not null default '{}',
  claims           jsonb                          not null,
  claims_role      regrole                        not null generated always as (realtime.to_regrole(claims ->> 'role')) stored,
  created_at       timestamp                      not null default timezone('utc', now()),
  action_filter    text                                    default '*',
  selected_columns text[],
  constraint subscription_action_filter_check check (action_filter in ('*', 'INSERT', 'UPDATE', 'DELETE'))
);

create index if not exists ix_realtime_subscription_entity on realtime.subscription (entity);
create unique index if not exists subscription_subscription_id_entity_filters_action_filter_selec
  on realtime.subscription (subscription_id, entity, filters, action_filter, coalesce(selected_columns, '{}'));

alter table realtime.messages owner to supabase_realtime_admin;
alter table realtime.subscription owner to supabase_realtime_admin;

grant all on realtime.messages, realtime.subscription to postgres, dashboard_user;
grant select, insert, update on realtime.messages to anon, authenticated, service_role;
grant select on realtime.subscription to anon, authenticated, service_role;
grant all on sequence realtime.subscription_id_seq to postgres, dashboard_user;
grant usage on sequence realtime.subscription_id_seq to anon, authenticated, service_role;

-- Realtime reads broadcasts from the database through this publication.
do $$
begin
  if not exists (select from pg_publication where pubname = 'supabase_realtime_messages_publication') then
    create publication supabase_realtime_messages_publication for table realtime.messages;
  elsif not exists (
    select from pg_publication_rel r join pg_publication p on p.oid = r.prpubid
    where p.pubname = 'supabase_realtime_messages_publication' and r.prrelid = 'realtime.messages'::regclass
  ) then
    alter publication supabase_realtime_messages_publication add table realtime.messages;
  end if;
  if current_setting('is_superuser') = 'on' then -- others would need the right to create schemas
    alter publication supabase_realtime_messages_publication owner to supabase_realtime_admin;
  end if;
end
$$;
