-- The extensions that every new Supabase project has.
-- Where a role may own them without being superuser, postgres does: it can drop them, as on Supabase.
do $$
declare
  all_wanted constant text[] := array['uuid-ossp', 'pgcrypto', 'pg_stat_statements'];
  -- The view reads the control files of all extensions, so it is read once.
  trusted    constant text[] := array(select v.name from pg_available_extension_versions v where v.name = any (all_wanted) and v.trusted);
  wanted     text;
begin
  foreach wanted in array all_wanted loop
    if wanted = any (trusted) then
      set local role postgres;
    end if;
    execute format('create extension if not exists %I schema extensions', wanted);
    reset role;
  end loop;
end
$$;

grant usage on schema extensions to supabase_auth_admin, supabase_storage_admin, authenticator;
