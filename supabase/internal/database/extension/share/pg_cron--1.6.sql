-- Jobs and their runs, with the tables and functions of pg_cron 1.6. The functions run with the privileges of their caller.
-- The trigger job_guard keeps a caller, even one that bypasses row level security, from scheduling as another role.

do $$
declare
  wanted text := coalesce(nullif(current_setting('cron.database_name', true), ''), 'postgres');
begin
  if current_database() <> wanted then
    raise exception 'can only create extension in database %', wanted
      using detail = 'The scheduler reads its jobs from that database.',
            hint = format('To use this database, run: alter database %1$I set cron.database_name = %1$L', current_database());
  end if;
end
$$;

create schema cron;
create sequence cron.jobid_seq;
create sequence cron.runid_seq;

-- nodename and nodeport have no meaning here. Their values let a dump run on a server with the usual port.
create table cron.job (
  jobid    bigint primary key default nextval('cron.jobid_seq'),
  schedule text not null,
  command  text not null,
  nodename text not null default 'localhost',
  nodeport integer not null default 5432,
  database text not null default current_database(),
  username text not null default current_user,
  active   boolean not null default true,
  jobname  text,
  constraint jobname_username_uniq unique (jobname, username)
);

create table cron.job_run_details (
  jobid          bigint,
  runid          bigint primary key default nextval('cron.runid_seq'),
  job_pid        integer,
  database       text,
  username       text,
  command        text,
  status         text,
  return_message text,
  start_time     timestamptz,
  end_time       timestamptz
);

alter table cron.job enable row level security;
create policy cron_job_policy on cron.job using (username = current_user);
alter table cron.job_run_details enable row level security;
create policy cron_job_run_details_policy on cron.job_run_details using (username = current_user);

-- field reports whether one field of a schedule is a list of numbers, names, ranges and steps between low and high.
create function cron._field(field text, low integer, high integer, names text[]) returns boolean
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
declare
  item  text;
  parts text[];
  ends  text[];
  edge  text;
  place integer;
begin
  foreach item in array string_to_array(field, ',') loop
    parts := string_to_array(item, '/');
    if item = '' or parts[1] = '' or cardinality(parts) > 2 or parts[2] !~ '^[0-9]{1,4}$' or parts[2]::integer = 0 then
      return false;
    end if;
    continue when parts[1] = '*';
    ends := string_to_array(parts[1], '-');
    if cardinality(ends) not in (1, 2) or (cardinality(ends) = 1 and cardinality(parts) = 2) then
      return false;
    end if;
    foreach edge in array ends loop
      if edge ~ '^[0-9]{1,4}$' then
        place := edge::integer;
      else
        place := array_position(names, lower(edge)) - 1 + low;
      end if;
      if place is null or place not between low and high then
        return false;
      end if;
    end loop;
  end loop;
  return field <> '';
end
$$;

create function cron._valid(schedule text) returns boolean
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
declare
  text_ text := btrim(schedule, E' \t\r\n');
  f     text[] := regexp_split_to_array(text_, '[ \t]+');
begin
  if text_ ~ '^@' then
    return f[1] in ('@reboot', '@restart', '@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly');
  end if;
  if text_ ~* '^[0-9]+\s*seconds?$' then
    return substring(text_ from '^[0-9]{1,4}')::integer between 1 and 59 and text_ ~ '^[0-9]{1,4}([^0-9]|$)';
  end if;
  return cardinality(f) >= 5
     and cron._field(f[1], 0, 59, null)
     and cron._field(f[2], 0, 23, null)
     and (f[3] = '$' or cron._field(f[3], 1, 31, null))
     and cron._field(f[4], 1, 12, array['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'])
     and cron._field(f[5], 0, 7, array['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']);
end
$$;

create function cron.job_guard() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  super boolean := (select rolsuper from pg_roles where rolname = current_user);
begin
  if tg_op <> 'INSERT' and not super and old.username <> current_user then
    raise exception 'job % does not exist or you don''t own it', old.jobid using errcode = 'insufficient_privilege';
  end if;
  if tg_op = 'DELETE' then
    return old;
  end if;
  if not super and new.username <> current_user then
    raise exception 'must be superuser to create a job for another role' using errcode = 'insufficient_privilege';
  end if;
  if not cron._valid(new.schedule) then
    raise exception 'invalid schedule: %', new.schedule
      using errcode = 'invalid_parameter_value',
            hint = 'Use cron format (e.g. 5 4 * * *), or interval format ''[1-59] seconds''';
  end if;
  if not super then
    if not has_database_privilege(new.username, new.database, 'connect') then
      raise exception 'User % does not have CONNECT privilege on %', new.username, new.database;
    end if;
    if new.database <> current_database()
       and not has_function_privilege(current_user, 'cron.schedule_in_database(text,text,text,text,text,boolean)', 'execute') then
      raise exception 'permission denied to schedule a job in database %', new.database using errcode = 'insufficient_privilege';
    end if;
  end if;
  return new;
end
$$;

create trigger job_guard before insert or update or delete on cron.job
  for each row execute function cron.job_guard();
-- The setting session_replication_role must not disable the check.
alter table cron.job enable always trigger job_guard;

create function cron.job_cache_invalidate() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform pg_notify('daawo_pg_cron', '');
  return null;
end
$$;
comment on function cron.job_cache_invalidate() is 'tells the scheduler that the jobs have changed';

create trigger cron_job_cache_invalidate after insert or update or delete or truncate on cron.job
  for each statement execute function cron.job_cache_invalidate();
alter table cron.job enable always trigger cron_job_cache_invalidate;

create function cron._put(job_name text, schedule text, command text, database text, username text, active boolean) returns bigint
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  id bigint;
begin
  if schedule is null then
    raise exception 'schedule can not be NULL';
  elsif command is null then
    raise exception 'command can not be NULL';
  end if;
  if username is not null and not exists (select from pg_roles r where r.rolname = username and r.rolcanlogin)
     and (select r.rolsuper from pg_roles r where r.rolname = current_user) then
    raise exception 'role "%" does not exist or can not log in', username;
  end if;
  insert into cron.job as j (jobname, schedule, command, database, username, active)
  values (job_name, _put.schedule, _put.command, coalesce(_put.database, current_database()),
          coalesce(_put.username, current_user), coalesce(_put.active, true))
  on conflict on constraint jobname_username_uniq do update
    set schedule = excluded.schedule, command = excluded.command, database = excluded.database
  returning j.jobid into id;
  return id;
end
$$;

create function cron.schedule(schedule text, command text) returns bigint
language sql strict set search_path = pg_catalog, pg_temp as $$
  select cron._put(null, schedule, command, null, null, true)
$$;
comment on function cron.schedule(text, text) is 'schedule a pg_cron job';

create function cron.schedule(job_name text, schedule text, command text) returns bigint
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if job_name is null then
    raise exception 'job_name can not be NULL';
  end if;
  return cron._put(job_name, schedule, command, null, null, true);
end
$$;
comment on function cron.schedule(text, text, text) is 'schedule a pg_cron job';

create function cron.schedule_in_database(
  job_name text, schedule text, command text, database text, username text default null, active boolean default true
) returns bigint
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if job_name is null then
    raise exception 'job_name can not be NULL';
  end if;
  return cron._put(job_name, schedule, command, database, username, active);
end
$$;
comment on function cron.schedule_in_database(text, text, text, text, text, boolean) is 'schedule a pg_cron job';

create function cron.unschedule(job_id bigint) returns boolean
language plpgsql strict set search_path = pg_catalog, pg_temp as $$
begin
  delete from cron.job where jobid = job_id;
  if not found then
    raise exception 'could not find valid entry for job %', job_id;
  end if;
  return true;
end
$$;
comment on function cron.unschedule(bigint) is 'unschedule a pg_cron job';

create function cron.unschedule(job_name text) returns boolean
language plpgsql strict set search_path = pg_catalog, pg_temp as $$
begin
  delete from cron.job where jobname = job_name and username = current_user;
  if not found then
    raise exception 'could not find valid entry for job ''%''', job_name;
  end if;
  return true;
end
$$;
comment on function cron.unschedule(text) is 'unschedule a pg_cron job';

create function cron.alter_job(
  job_id bigint, schedule text default null, command text default null, database text default null,
  username text default null, active boolean default null
) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if job_id is null then
    raise exception 'job_id can not be NULL';
  elsif num_nonnulls(schedule, command, database, username, active) = 0 then
    raise exception 'no updates specified'
      using hint = 'You must specify at least one job attribute to change when calling alter_job';
  end if;
  if username is not null and not (select r.rolsuper from pg_roles r where r.rolname = current_user) then
    raise exception 'must be superuser to alter username' using errcode = 'insufficient_privilege';
  end if;
  update cron.job j
     set schedule = coalesce(alter_job.schedule, j.schedule),
         command  = coalesce(alter_job.command, j.command),
         database = coalesce(alter_job.database, j.database),
         username = coalesce(alter_job.username, j.username),
         active   = coalesce(alter_job.active, j.active)
   where j.jobid = job_id;
  if not found then
    raise exception 'Job % does not exist or you don''t own it', job_id;
  end if;
end
$$;
comment on function cron.alter_job(bigint, text, text, text, text, boolean) is
  'Alter the job identified by job_id. Any option left as NULL will not be modified.';

revoke all on function cron.alter_job(bigint, text, text, text, text, boolean) from public;
revoke all on function cron.schedule_in_database(text, text, text, text, text, boolean) from public;

-- Row level security and the guard restrict these to the caller's own jobs. Only roles that may use the schema get here.
grant select, insert, update, delete on cron.job to public;
grant select, delete on cron.job_run_details to public;
grant select, usage on sequence cron.jobid_seq to public;
grant select on sequence cron.runid_seq to public;

do $$
declare
  owner text;
begin
  for owner in
    select rolname from pg_roles where rolname in ('postgres', (parse_ident('@extowner@'))[1])
  loop
    execute format('grant usage on schema cron to %I with grant option', owner);
    execute format('grant execute on all functions in schema cron to %I with grant option', owner);
    execute format('grant select, delete, truncate on cron.job_run_details to %I with grant option', owner);
  end loop;
end
$$;

select pg_extension_config_dump('cron.job', '');
select pg_extension_config_dump('cron.jobid_seq', '');
select pg_extension_config_dump('cron.job_run_details', '');
select pg_extension_config_dump('cron.runid_seq', '');
