-- The role postgres owns the database and thus, through pg_database_owner, the
-- schema public.
do $$
begin
  execute format('alter database %I owner to postgres', current_database());
  execute format('alter database %I set search_path = "$user", public, extensions', current_database());
end
$$;

create schema if not exists extensions;
create schema if not exists auth;
create schema if not exists storage;
create schema if not exists realtime;
create schema if not exists graphql_public;

alter schema extensions owner to postgres;

grant usage on schema public, extensions, auth, storage, graphql_public
  to postgres, anon, authenticated, service_role;
grant create on schema public to postgres;
grant usage on schema realtime to postgres, anon, authenticated, service_role;
grant all on schema extensions to dashboard_user;

grant all on schema auth to supabase_auth_admin, dashboard_user;
grant all on schema storage to supabase_storage_admin with grant option;
grant all on schema storage to dashboard_user;
grant create on schema auth, storage to postgres;
grant all on schema realtime to supabase_realtime_admin;
