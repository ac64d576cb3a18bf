-- The functions of pg_tle that migrations call. Postgres reads extensions from files, which only its operator writes.

do $$
begin
  raise warning 'pg_tle is a placeholder on this server: it installs no extensions'
    using hint = 'Write the statements of a package of database.dev into a migration.';
end
$$;

create function pgtle.install_extension(
  name text, version text, description text, ext text, requires text[] default null, schema text default null
) returns boolean language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  raise exception 'pg_tle cannot install the extension "%" on this server', name
    using errcode = 'feature_not_supported',
          hint = 'Write its statements into a migration, or use --database-url with a Postgres that has pg_tle.';
end
$$;

create function pgtle.uninstall_extension_if_exists(extname text) returns boolean
language sql immutable set search_path = pg_catalog, pg_temp as 'select false';

create function pgtle.available_extensions(out name name, out default_version text, out comment text)
returns setof record language sql immutable set search_path = pg_catalog, pg_temp as $$ select ''::name, ''::text, ''::text where false $$;
