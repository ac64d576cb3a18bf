-- Tells REST servers to reload the schema after a change, with PostgREST's
-- channel and payload.
create or replace function extensions.pgrst_ddl_watch() returns event_trigger
  language plpgsql
as $$
begin
  -- Other sessions cannot see temporary objects.
  if exists (
    select from pg_event_trigger_ddl_commands()
    where schema_name is distinct from 'pg_temp'
      and command_tag in (
        'CREATE SCHEMA', 'ALTER SCHEMA',
        'CREATE TABLE', 'CREATE TABLE AS', 'SELECT INTO', 'ALTER TABLE',
        'CREATE FOREIGN TABLE', 'ALTER FOREIGN TABLE',
        'CREATE VIEW', 'ALTER VIEW',
        'CREATE MATERIALIZED VIEW', 'ALTER MATERIALIZED VIEW',
        'CREATE FUNCTION', 'ALTER FUNCTION', 'CREATE PROCEDURE', 'ALTER PROCEDURE',
        'CREATE TRIGGER', 'CREATE TYPE', 'ALTER TYPE',
        'CREATE DOMAIN', 'ALTER DOMAIN', 'CREATE RULE', 'COMMENT', 'GRANT', 'REVOKE'
      )
  ) then
    notify pgrst, 'reload schema';
  end if;
end
$$;

create or replace function extensions.pgrst_drop_watch() returns event_trigger
  language plpgsql
as $$
begin
  if exists (
    select from pg_event_trigger_dropped_objects()
    where not is_temporary
      and object_type in (
        'schema', 'table', 'foreign table', 'view', 'materialized view',
        'function', 'procedure', 'trigger', 'type', 'rule', 'domain'
      )
  ) then
    notify pgrst, 'reload schema';
  end if;
end
$$;

do $$
begin
  if not exists (select from pg_event_trigger where evtname = 'pgrst_ddl_watch') then
    create event trigger pgrst_ddl_watch on ddl_command_end
      execute function extensions.pgrst_ddl_watch();
  end if;
  if not exists (select from pg_event_trigger where evtname = 'pgrst_drop_watch') then
    create event trigger pgrst_drop_watch on sql_drop
      execute function extensions.pgrst_drop_watch();
  end if;
end
$$;
