-- The API roles get all privileges on objects that migrations create in public,
-- and row level security restricts them. In the auth and storage schemas the
-- service and the dashboard get all privileges.
do $$
declare
  creator text;
begin
  foreach creator in array array['postgres', 'supabase_admin'] loop
    continue when not exists (select from pg_roles where rolname = creator);
    -- Only a member of the creator role may set its default privileges.
    continue when not pg_has_role(current_user, creator, 'member');
    execute format('alter default privileges for role %I in schema public grant all on tables to postgres, anon, authenticated, service_role', creator);
    execute format('alter default privileges for role %I in schema public grant all on sequences to postgres, anon, authenticated, service_role', creator);
    execute format('alter default privileges for role %I in schema public grant all on functions to postgres, anon, authenticated, service_role', creator);
    execute format('alter default privileges for role %I in schema graphql_public grant all on functions to postgres, anon, authenticated, service_role', creator);
    execute format('alter default privileges for role %I in schema storage grant all on tables to postgres, anon, authenticated, service_role', creator);
    execute format('alter default privileges for role %I in schema storage grant all on sequences to postgres, anon, authenticated, service_role', creator);
    execute format('alter default privileges for role %I in schema storage grant all on functions to postgres, anon, authenticated, service_role', creator);
  end loop;
end
$$;

alter default privileges for role supabase_auth_admin in schema auth grant all on tables to postgres, dashboard_user;
alter default privileges for role supabase_auth_admin in schema auth grant all on sequences to postgres, dashboard_user;
alter default privileges for role supabase_auth_admin in schema auth grant all on functions to postgres, dashboard_user;
grant all on all functions in schema auth to postgres, dashboard_user;
