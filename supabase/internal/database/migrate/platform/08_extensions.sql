-- The role of database webhooks, to which pg_net grants its functions.
do $$
begin
  if not exists (select from pg_roles where rolname = 'supabase_functions_admin') then
    create role supabase_functions_admin login noinherit createrole;
  end if;
end
$$;
alter role supabase_functions_admin set search_path = 'supabase_functions';
grant supabase_functions_admin to postgres;

-- Extensions that every new Supabase project has, where this server has them, and the settings that postgres may change.
-- Dumps put pg_graphql and pgsodium into schemas that every Supabase project has.
create schema if not exists graphql;
create schema if not exists pgsodium;

do $$
declare
  -- The view reads the control files of all extensions, so it is read once.
  trusted constant text[] := array(select v.name from pg_available_extension_versions v where v.name in ('supabase_vault', 'pg_net', 'pg_graphql') and v.trusted);
  name    text;
begin
  -- postgres owns them, so it can drop them, as on Supabase.
  set local role postgres;
  if 'supabase_vault' = any (trusted)
     and current_setting('server_version_num')::int >= 160000 then -- its script needs 16
    create extension if not exists supabase_vault;
  end if;
  if 'pg_net' = any (trusted) then
    create extension if not exists pg_net schema extensions;
  end if;
  if 'pg_graphql' = any (trusted) and not exists (select from daawo.platform p where p.name = '08_extensions.sql') then
    -- In a new database only: projects drop it. The placeholder's warning is for projects that create it.
    set local client_min_messages = error;
    create extension if not exists pg_graphql schema graphql;
    set local client_min_messages = warning;
  end if;
  reset role;
  if current_setting('is_superuser') = 'on' and current_setting('server_version_num')::int >= 150000 then
    foreach name in array array[
      'cron.database_name', 'cron.timezone', 'cron.max_running_jobs', 'cron.log_run', 'cron.match_dom_and_dow', 'cron.launch_active_jobs',
      'pg_net.ttl', 'pg_net.batch_size'
    ] loop
      execute format('grant set on parameter %s to postgres', name);
    end loop;
  end if;
end
$$;

-- Tells the workers of extensions that one was created or dropped.
create or replace function extensions.daawo_extension_watch() returns event_trigger
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  notify daawo_extensions;
end
$$;

-- Drops the queues with the extension pgmq. They do not belong to it, so that dumps include them.
create or replace function extensions.daawo_queues_drop() returns event_trigger
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  queue regclass;
begin
  if exists (select from pg_event_trigger_dropped_objects() where object_type = 'extension' and object_identity = 'pgmq') then
    for queue in
      select oid from pg_class
      where relnamespace = to_regnamespace('pgmq') and relkind in ('r', 'p') and relname ~ '^[qa]_'
    loop
      execute format('drop table %s', queue);
    end loop;
  end if;
end
$$;

-- Explains how to get an extension that this server does not have. Postgres' own error names only a missing file.
-- The statement is that of the innermost function, or the whole text that the client sent.
create or replace function extensions.daawo_extension_missing() returns event_trigger
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  stack     text;
  statement text;
  wanted    text;
begin
  get diagnostics stack = pg_context;
  statement := coalesce(substring(stack from 'SQL statement "((?:[^"]|"")*create\s+extension.*?)"\nPL/pgSQL'), current_query());
  -- Comments may have the words too.
  statement := regexp_replace(regexp_replace(statement, '/\*.*?\*/', ' ', 'g'), '--[^\n]*', ' ', 'g');
  for wanted in
    select case when m[1] like '"%' then replace(substr(m[1], 2, length(m[1]) - 2), '""', '"') else lower(m[1]) end
    from regexp_matches(statement, '\mcreate\s+extension\s+(?:if\s+not\s+exists\s+)?("(?:[^"]|"")+"|[a-z_][a-z0-9_$]*)', 'gi') m
  loop
    continue when exists (select from pg_extension where extname = wanted)
               or exists (select from pg_available_extensions where name = wanted);
    raise exception 'extension "%" is not available on this server', wanted
      using errcode = 'feature_not_supported',
            detail = 'It is not installed on the database server.',
            hint = case
                when wanted = 'postgis' then
                  'In a clone, `make clean build` compiles it if GEOS and PROJ are installed; `daawo extensions add` adds Debian 13''s packages. Or start'
                when wanted in ('vector', 'hypopg', 'plpgsql_check', 'pgtap', 'index_advisor') then
                  'The archives of a release for Linux have it. In a clone, bin/extensions has the reason why it is missing, and `make clean build` tries again. With a Postgres of your own, install its package. Or start'
                else 'Start' end
              || format(' the stack with --database-url on a Postgres that has "%s", such as Debian''s with its package, or supabase/postgres. docs/extensions.md has the steps.', wanted);
  end loop;
end
$$;

do $$
begin
  if not exists (select from pg_event_trigger where evtname = 'daawo_extension_missing') then
    create event trigger daawo_extension_missing on ddl_command_start when tag in ('CREATE EXTENSION')
      execute function extensions.daawo_extension_missing();
  end if;
  if not exists (select from pg_event_trigger where evtname = 'daawo_queues_drop') then
    create event trigger daawo_queues_drop on sql_drop when tag in ('DROP EXTENSION')
      execute function extensions.daawo_queues_drop();
  end if;
  if not exists (select from pg_event_trigger where evtname = 'daawo_extension_created') then
    create event trigger daawo_extension_created on ddl_command_end when tag in ('CREATE EXTENSION', 'ALTER EXTENSION', 'DROP EXTENSION')
      execute function extensions.daawo_extension_watch();
  end if;
end
$$;
