-- Database webhooks: the trigger function and the log of calls that Supabase's dashboard and its projects use. pg_net sends
-- the requests.
create schema if not exists supabase_functions;
grant usage on schema supabase_functions to postgres, anon, authenticated, service_role;
grant all on schema supabase_functions to supabase_functions_admin;

create table if not exists supabase_functions.migrations (
  version     text primary key,
  inserted_at timestamptz not null default now()
);
create table if not exists supabase_functions.hooks (
  id            bigserial primary key,
  hook_table_id integer not null,
  hook_name     text not null,
  created_at    timestamptz not null default now(),
  request_id    bigint
);
comment on table supabase_functions.hooks is 'Supabase Functions Hooks: Audit trail for triggered hooks.';
create index if not exists supabase_functions_hooks_request_id_idx on supabase_functions.hooks (request_id);
create index if not exists supabase_functions_hooks_h_table_id_h_name_idx on supabase_functions.hooks (hook_table_id, hook_name);
insert into supabase_functions.migrations (version) values ('initial'), ('20210809183423_update_grants') on conflict do nothing;

alter table supabase_functions.migrations enable row level security;
alter table supabase_functions.hooks enable row level security;
alter table supabase_functions.migrations owner to supabase_functions_admin;
alter table supabase_functions.hooks owner to supabase_functions_admin;
grant all on supabase_functions.migrations, supabase_functions.hooks to postgres, service_role;
grant usage, select on sequence supabase_functions.hooks_id_seq to postgres, service_role;

-- Arguments of the trigger: url, method (GET or POST), headers, params, timeout in milliseconds. An argument can be 'null'.
do $body$
begin
  -- supabase/postgres has its own.
  if coalesce(obj_description(to_regprocedure('supabase_functions.http_request()'), 'pg_proc'), 'Queues') not like 'Queues%'
     or (to_regprocedure('supabase_functions.http_request()') is not null
         and obj_description(to_regprocedure('supabase_functions.http_request()'), 'pg_proc') is null) then
    return;
  end if;
  create or replace function supabase_functions.http_request() returns trigger
    language plpgsql security definer set search_path = pg_catalog, pg_temp
  as $$
  declare
    args    text[] := array[nullif(tg_argv[0], 'null'), nullif(tg_argv[1], 'null'), nullif(tg_argv[2], 'null'),
                            nullif(tg_argv[3], 'null'), nullif(tg_argv[4], 'null')];
    headers jsonb := coalesce(args[3]::jsonb, '{"Content-Type": "application/json"}');
    params  jsonb := coalesce(args[4]::jsonb, '{}');
    timeout integer := coalesce(args[5]::integer, 1000);
    request bigint;
  begin
    if args[1] is null then
      raise exception 'url argument is missing';
    elsif args[2] is null then
      raise exception 'method argument is missing';
    elsif args[2] = 'GET' then
      request := net.http_get(args[1], params, headers, timeout);
    elsif args[2] = 'POST' then
      request := net.http_post(args[1], jsonb_build_object(
        'type', tg_op, 'table', tg_table_name, 'schema', tg_table_schema,
        'record', case when tg_op = 'DELETE' then null else to_jsonb(new) end,
        'old_record', case when tg_op = 'INSERT' then null else to_jsonb(old) end), params, headers, timeout);
    else
      raise exception 'method argument % is invalid', args[2];
    end if;
    insert into supabase_functions.hooks (hook_table_id, hook_name, request_id) values (tg_relid, tg_name, request);
    return coalesce(new, old);
  end
  $$;
  alter function supabase_functions.http_request() owner to supabase_functions_admin;
  comment on function supabase_functions.http_request() is 'Queues an HTTP request about a changed row. Use it as a trigger.';
end
$body$;
revoke all on function supabase_functions.http_request() from public;
grant execute on function supabase_functions.http_request() to postgres, anon, authenticated, service_role, supabase_functions_admin;
