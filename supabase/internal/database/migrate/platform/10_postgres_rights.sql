-- Rights that the role postgres has on Supabase, where an extension in C gives them, and that a role without superuser can get here.

-- Settings of roles and sessions: those of PostgREST, and those that seeds and dumps change.
do $$
declare
  name text;
begin
  if current_setting('is_superuser') <> 'on' or current_setting('server_version_num')::int < 150000 then
    return;
  end if;
  foreach name in array array[
    'session_replication_role', 'log_min_duration_statement', 'log_min_messages', 'log_statement', 'log_lock_waits', 'log_temp_files',
    'log_parameter_max_length', 'track_functions', 'track_io_timing',
    'pgrst.app_settings', 'pgrst.db_aggregates_enabled', 'pgrst.db_anon_role', 'pgrst.db_extra_search_path', 'pgrst.db_hoisted_tx_settings',
    'pgrst.db_max_rows', 'pgrst.db_plan_enabled', 'pgrst.db_pre_request', 'pgrst.db_prepared_statements', 'pgrst.db_root_spec',
    'pgrst.db_schemas', 'pgrst.db_timezone_enabled', 'pgrst.db_tx_end', 'pgrst.jwt_aud', 'pgrst.jwt_cache_max_lifetime',
    'pgrst.jwt_role_claim_key', 'pgrst.jwt_secret', 'pgrst.jwt_secret_is_base64', 'pgrst.openapi_mode',
    'pgrst.openapi_security_active', 'pgrst.openapi_server_proxy_uri', 'pgrst.server_cors_allowed_origins',
    'pgrst.server_timing_enabled', 'pgrst.server_trace_header'
  ] loop
    execute format('grant set on parameter %s to postgres', name);
  end loop;
end
$$;

-- Creates a publication for all tables, which Postgres allows superusers only. Migrations call it (migrate/rights.go).
-- options is empty or sets publish and publish_via_partition_root.
create or replace function daawo.publish_all_tables(name text, options text) returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if options !~ '^(\s*(publish\s*=\s*''[a-z, ]*''|publish_via_partition_root(\s*=\s*(true|false|on|off))?)\s*(,|$))*$' then
    raise exception 'options of a publication for all tables: only publish and publish_via_partition_root are supported'
      using errcode = 'feature_not_supported';
  end if;
  execute format('create publication %I for all tables', name) || case when options = '' then '' else format(' with (%s)', options) end;
end
$$;
revoke all on function daawo.publish_all_tables(text, text) from public;

-- Adds the tables of schemas to a publication of the role postgres, or sets them: Postgres allows superusers only.
create or replace function daawo.publish_schemas(name text, verb text, schemas text[]) returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if verb not in ('add', 'set') then
    raise exception 'verb must be add or set' using errcode = 'invalid_parameter_value';
  end if;
  if exists (select from pg_publication where pubname = name and not pg_has_role('postgres', pubowner, 'usage')) then
    raise exception 'must be owner of publication %', name using errcode = 'insufficient_privilege';
  end if;
  execute format('alter publication %I %s tables in schema %s', name, verb,
    (select string_agg(quote_ident(s), ', ') from unnest(schemas) s));
end
$$;
revoke all on function daawo.publish_schemas(text, text, text[]) from public;

-- Moves an extension of the role postgres. Its owner may not: the objects of a trusted extension belong to a superuser.
create or replace function daawo.move_extension(name text, schema text) returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (select from pg_extension where extname = name and not pg_has_role('postgres', extowner, 'usage')) then
    raise exception 'must be owner of extension %', name using errcode = 'insufficient_privilege';
  end if;
  if not has_schema_privilege('postgres', schema, 'create') then
    raise exception 'permission denied for schema %', schema using errcode = 'insufficient_privilege';
  end if;
  execute format('alter extension %I set schema %I', name, schema);
end
$$;
revoke all on function daawo.move_extension(text, text) from public;
grant usage on schema daawo to postgres;
grant execute on function daawo.publish_all_tables(text, text), daawo.publish_schemas(text, text, text[]),
  daawo.move_extension(text, text) to postgres;
