-- Gives every login role of the stack the password of .env, and the database the lifetime of its tokens.
-- The roles service runs this at every `docker compose up`, so a new password in .env is taken over by a restart and
-- nothing depends on what happened when the volume was first created. It runs as supabase_admin, the superuser of
-- supabase/postgres, over the container's own loopback address, which that image trusts.
\set ON_ERROR_STOP on
\getenv password POSTGRES_PASSWORD
\getenv jwt_expiry JWT_EXPIRY

begin;

alter role postgres with password :'password';
alter role authenticator with password :'password';
alter role supabase_admin with password :'password';
alter role supabase_auth_admin with password :'password';
alter role supabase_storage_admin with password :'password';

-- Realtime keeps its own tables here and expects the schema to exist.
create schema if not exists _realtime authorization supabase_admin;

select format('alter database %I set "app.settings.jwt_exp" to %L', current_database(), :'jwt_expiry')
\gexec

commit;
