-- The roles of supabase/postgres, with the same attributes and memberships.
-- The program that starts the server sets the passwords.
do $$
declare
  r record;
begin
  for r in
    select * from (values
      -- Roles that a request can have.
      ('anon',                       'nologin noinherit'),
      ('authenticated',              'nologin noinherit'),
      ('service_role',               'nologin noinherit bypassrls'),
      -- Login roles of the services.
      ('authenticator',              'login noinherit'),
      ('supabase_auth_admin',        'login noinherit createrole'),
      ('supabase_storage_admin',     'login noinherit createrole'),
      ('supabase_replication_admin', 'login replication'),
      ('supabase_read_only_user',    'login bypassrls'),
      ('supabase_realtime_admin',    'nologin noinherit'),
      -- Login roles of people. postgres owns the schema public. It is not a
      -- superuser, so a faulty function of postgres cannot take over the server.
      ('dashboard_user',             'nologin createdb createrole replication'),
      ('postgres',                   'login createdb createrole replication bypassrls')
    ) as wanted (name, attributes)
    where not exists (select from pg_roles where rolname = wanted.name)
    union all
    -- The bootstrap role of our own servers. Only a superuser can create it.
    select 'supabase_admin', 'login superuser createdb createrole replication bypassrls'
    where current_setting('is_superuser') = 'on'
      and not exists (select from pg_roles where rolname = 'supabase_admin')
  loop
    execute format('create role %I %s', r.name, r.attributes);
  end loop;
end
$$;

grant anon, authenticated, service_role to authenticator;
grant anon, authenticated, service_role, authenticator to postgres with admin option;
-- Storage switches to the role of its caller.
grant authenticator to supabase_storage_admin;
grant supabase_auth_admin, supabase_storage_admin, supabase_realtime_admin to postgres;

grant pg_monitor, pg_read_all_data, pg_signal_backend to postgres;
grant pg_read_all_data to supabase_read_only_user;
grant pg_monitor to supabase_read_only_user;

-- Timeouts keep a client's query from blocking a connection. The engines apply
-- the settings of the request's role, as PostgREST does.
alter role anon set statement_timeout = '3s';
alter role authenticated set statement_timeout = '8s';
alter role authenticator set statement_timeout = '8s';
alter role authenticator set lock_timeout = '8s';

alter role supabase_auth_admin set search_path = 'auth';
alter role supabase_auth_admin set idle_in_transaction_session_timeout = '60s';
alter role supabase_storage_admin set search_path = 'storage';
alter role postgres set search_path = "$user", public, extensions;

-- Settings that postgres needs for dumps, replication and inspection.
do $$
declare
  name text;
begin
  if current_setting('is_superuser') = 'on' and current_setting('server_version_num')::int >= 150000 then
    foreach name in array array[
      'session_replication_role', 'log_lock_waits', 'log_min_duration_statement', 'log_min_messages',
      'log_statement', 'log_temp_files', 'track_functions', 'track_io_timing', 'wal_compression'
    ] loop
      execute format('grant set on parameter %s to postgres', name);
    end loop;
  end if;
end
$$;
