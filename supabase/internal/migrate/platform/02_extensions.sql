-- The extensions that every new Supabase project has.
create extension if not exists "uuid-ossp" schema extensions;
create extension if not exists pgcrypto schema extensions;
create extension if not exists pg_stat_statements schema extensions;

grant usage on schema extensions to supabase_auth_admin, supabase_storage_admin, authenticator;
