-- What migrations create in public is open to the API roles, and row level
-- security decides; the auth and storage schemas are open to their own service
-- and to the dashboard.
do $$
declare
  creator text;
begin
  foreach creator in array array['postgres', 'supabase_admin'] loop
    continue when not exists (select from pg_roles where rolname = creator);
    -- Only a member of the creator may set its defaults.
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
