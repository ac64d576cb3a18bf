-- Sets the password of every login role to the one in .env, and the lifetime of the database's tokens.
-- The service `roles` runs this at every `docker compose up`, so a restart applies a new password in .env. It connects as
-- supabase_admin, the superuser of supabase/postgres, over the container's loopback address, which that image trusts.
\set ON_ERROR_STOP on
\getenv password POSTGRES_PASSWORD
\getenv jwt_expiry JWT_EXPIRY

-- The pooler's own role and database: it needs no other rights.
select 'create role supavisor login' where not exists (select from pg_roles where rolname = 'supavisor')
\gexec
select 'create database _supabase owner supavisor' where not exists (select from pg_database where datname = '_supabase')
\gexec

begin;

\ir realtime_role.sql

-- The schema of Realtime, which only a superuser can create. Realtime finds its migrations applied.
create schema if not exists realtime;
select to_regclass('realtime.schema_migrations') is null as no_realtime
\gset
\if :no_realtime
\i /platform/40_realtime.sql
\i /platform/40_realtime_changes.sql
\i /platform/40_realtime_walrus.sql
\i /platform/40_realtime_messages.sql
\i /platform/40_realtime_ledger.sql
\endif
\ir service_roles.sql

alter role daawo_transfer with password :'password';
alter role postgres with password :'password';
alter role authenticator with password :'password';
alter role supabase_admin with password :'password';
alter role supabase_auth_admin with password :'password';
alter role supabase_storage_admin with password :'password';
alter role supabase_realtime_admin with password :'password';
alter role pgbouncer with password :'password';
alter role supavisor with password :'password';

select format('alter database %I set "app.settings.jwt_exp" to %L', current_database(), :'jwt_expiry')
\gexec

commit;

\connect _supabase
create schema if not exists _supavisor authorization supavisor;
