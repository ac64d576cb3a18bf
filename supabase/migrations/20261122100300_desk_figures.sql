-- Figures and the state of the system for the desk.

create function public.report_figures(since timestamptz default now() - interval '1 year') returns jsonb
language plpgsql stable security definer set search_path = ''
as $$
begin
  if private.current_staff_role() is null then
    raise exception 'staff only' using errcode = '42501';
  end if;
  return (
    with chosen as materialized (
      select r.created_at, r.status, r.region, lower(btrim(r.product_name)) as product, r.product_name, r.first_action_at
        from public.reports as r where r.created_at >= report_figures.since),
    weeks as (select date_trunc('week', c.created_at at time zone 'UTC')::date as week, count(*) as n from chosen as c group by 1),
    products as (
      select mode() within group (order by btrim(c.product_name)) as name, count(*) as n from chosen as c
       group by c.product having count(*) >= 3 order by n desc, 1 limit 12)
    select jsonb_build_object(
      'total', (select count(*) from chosen),
      'weeks', (select coalesce(jsonb_agg(jsonb_build_array(w.week, w.n) order by w.week), '[]') from weeks as w),
      'statuses', (select coalesce(jsonb_object_agg(s.status, s.n), '{}') from (select status, count(*) as n from chosen group by 1) as s),
      'regions', (select coalesce(jsonb_object_agg(coalesce(s.region, '-'), s.n), '{}') from (select region, count(*) as n from chosen group by 1) as s),
      'products', (select coalesce(jsonb_agg(jsonb_build_array(p.name, p.n) order by p.n desc, p.name), '[]') from products as p),
      'first_action_hours', (
        select jsonb_build_object('median', round((percentile_cont(0.5) within group (order by extract(epoch from c.first_action_at - c.created_at)) / 3600)::numeric, 1),
                                  'p90', round((percentile_cont(0.9) within group (order by extract(epoch from c.first_action_at - c.created_at)) / 3600)::numeric, 1),
                                  'acted', count(c.first_action_at), 'waiting', count(*) filter (where c.status = 'new'))
          from chosen as c)));
end $$;
comment on function public.report_figures(timestamptz) is
  'Numbers of reports by week, product, region and status, and hours to the first action. Products with fewer than three reports are not named. Staff only.';

create function public.download_figures(since date default (now() - interval '1 year')::date) returns jsonb
language plpgsql stable security definer set search_path = ''
as $$
begin
  if private.current_staff_role() is null then
    raise exception 'staff only' using errcode = '42501';
  end if;
  return (select coalesce(jsonb_agg(jsonb_build_array(m.month, m.title, m.n) order by m.month, m.n desc, m.title), '[]') from (
    select date_trunc('month', d.day)::date as month, r.title, sum(d.downloads)::bigint as n
      from public.downloads_per_day as d join public.resources as r on r.id = d.resource_id
     where d.day >= download_figures.since group by 1, r.id, r.title) as m);
end $$;
comment on function public.download_figures(date) is 'Downloads by month and resource. Staff only.';

create function public.system_state() returns jsonb
language plpgsql stable security definer set search_path = ''
as $$
declare
  jobs jsonb := '[]';
begin
  perform private.require_owner();
  if to_regclass('river.river_job') is not null then
    execute $q$
      select coalesce(jsonb_agg(j order by j.id desc), '[]') from (
        select id, kind, state::text, attempt, max_attempts, created_at, scheduled_at,
               coalesce(args ->> 'function', args ->> 'channel') as name, left(errors[array_upper(errors, 1)] ->> 'error', 300) as error
          from river.river_job
         where state in ('discarded', 'cancelled', 'retryable') or state = 'available' and attempt > 0
         order by id desc limit 50) as j$q$ into jobs;
  end if;
  return jsonb_build_object(
    'postgres', current_setting('server_version'),
    'database_bytes', pg_database_size(current_database()),
    'schema', (select max(m.version) from supabase_migrations.schema_migrations as m),
    'buckets', (select coalesce(jsonb_agg(jsonb_build_object('name', b.name, 'public', b.public, 'files', coalesce(o.files, 0), 'bytes', coalesce(o.bytes, 0)) order by b.name), '[]')
                  from storage.buckets as b left join (
                    select bucket_id, count(*) as files, sum((metadata ->> 'size')::bigint) as bytes from storage.objects group by 1) as o on o.bucket_id = b.id),
    'reports', (select count(*) from public.reports),
    'trail', (select count(*) from public.staff_trail),
    'jobs', jobs);
end $$;
comment on function public.system_state() is 'Sizes, versions and failed background jobs. Owners only.';

create function public.retry_job(job bigint) returns boolean
language plpgsql volatile security definer set search_path = ''
as $$
declare
  kind text;
begin
  perform private.require_owner();
  execute $q$
    update river.river_job
       set state = 'available', scheduled_at = now(), finalized_at = null, max_attempts = greatest(max_attempts, attempt + 1)
     where id = $1 and state in ('discarded', 'cancelled', 'retryable')
    returning kind$q$ into kind using retry_job.job;
  if kind is null then
    return false;
  end if;
  perform private.write_trail('retry', 'job', retry_job.job::text, kind);
  return true;
end $$;
comment on function public.retry_job(bigint) is 'Makes a failed background job run again at once; false if it did not fail. Owners only.';

create function public.trail_operation(name text) returns void
language plpgsql volatile security definer set search_path = ''
as $$
begin
  perform private.require_owner();
  if trail_operation.name not in ('doctor', 'backups') then -- the page shows these whenever it opens
    perform private.write_trail('run', 'system', null, trail_operation.name);
  end if;
end $$;
comment on function public.trail_operation(text) is 'Writes to the trail that an operation of the system page runs; fails for callers who may not run it.';

revoke all on function public.report_figures(timestamptz), public.download_figures(date), public.system_state(), public.retry_job(bigint),
  public.trail_operation(text) from public, anon, authenticated, service_role;
grant execute on function public.report_figures(timestamptz), public.download_figures(date), public.system_state(), public.retry_job(bigint),
  public.trail_operation(text) to authenticated;
