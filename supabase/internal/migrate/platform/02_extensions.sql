-- The extensions that every new Supabase project has.
-- Where a role may own them without being superuser, postgres does: it can drop them, as on Supabase.
do $$
declare
  wanted text;
begin
  foreach wanted in array array['uuid-ossp', 'pgcrypto', 'pg_stat_statements'] loop
    if exists (select from pg_available_extension_versions v where v.name = wanted and v.trusted) then
      set local role postgres;
    end if;
    execute format('create extension if not exists %I schema extensions', wanted);
    reset role;
  end loop;
end
$$;

grant usage on schema extensions to supabase_auth_admin, supabase_storage_admin, authenticator;
