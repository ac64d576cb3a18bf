-- Login roles of services that need no superuser. roles.sql sets their passwords.

-- The service `transfer` reads and replaces the tables of these owners. It ignores row level security and fires no triggers.
do $$
begin
  if not exists (select from pg_roles where rolname = 'daawo_transfer') then
    create role daawo_transfer login bypassrls;
  end if;
end
$$;
grant postgres, supabase_auth_admin, supabase_storage_admin, pg_read_all_data to daawo_transfer;
grant set on parameter session_replication_role to daawo_transfer;

-- Realtime signs in as the owner of its messages. It creates partitions and applies its own migrations in both schemas.
create schema if not exists _realtime;
alter schema _realtime owner to supabase_realtime_admin;
grant create, usage on schema realtime to supabase_realtime_admin with grant option;
do $$
declare
  r record;
begin
  -- An earlier release ran Realtime as supabase_admin, which owns these tables then.
  for r in
    select format('%I.%I', n.nspname, c.relname) as name
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname in ('realtime', '_realtime') and c.relkind in ('r', 'p') and c.relowner = 'supabase_admin'::regrole
  loop
    execute format('alter table %s owner to supabase_realtime_admin', r.name);
  end loop;
end
$$;
