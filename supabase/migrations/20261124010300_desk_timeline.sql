-- What happened to a report, for its reviewers. It comes from the trail, which only owners read as a whole, and has no words of
-- the report.

create function public.report_timeline(report uuid) returns jsonb
language plpgsql stable security definer set search_path = ''
as $$
declare
  found_report public.reports;
begin
  perform private.require_reviewer();
  select r.* into found_report from public.reports as r where r.id = report_timeline.report;
  if not found then
    raise exception 'no report has this id' using errcode = 'PT404';
  end if;
  return (
    with lines as (
      select t.id, t.at, t.actor, t.actor_name, t.action, t.detail from public.staff_trail as t
       where t.subject = 'report' and t.subject_id = report_timeline.report::text
      union all
      select t.id, t.at, t.actor, t.actor_name, t.action, '{}'::jsonb from public.staff_trail as t
       where t.subject = 'report' and t.action = 'export' and t.at >= found_report.created_at
         and found_report.created_at >= coalesce((t.detail ->> 'since')::timestamptz, '-infinity')
         and found_report.created_at < coalesce((t.detail ->> 'until')::timestamptz, 'infinity')),
    newest as (select * from lines order by id desc limit 200)
    select jsonb_build_array(jsonb_build_object('id', 0, 'at', found_report.created_at, 'action', 'arrive', 'detail', '{}'::jsonb))
      || coalesce(jsonb_agg(jsonb_build_object('id', n.id, 'at', n.at, 'actor', n.actor, 'actor_name', n.actor_name,
           'action', n.action, 'detail', n.detail) order by n.id), '[]')
      from newest as n);
end $$;
comment on function public.report_timeline(uuid) is
  'Arrival, reads, changes, notes, notices and exports of a report in their order: at, member, action. Reviewers only.';
revoke all on function public.report_timeline(uuid) from public, anon, authenticated, service_role;
grant execute on function public.report_timeline(uuid) to authenticated;
create index staff_trail_exports on public.staff_trail (at) where subject = 'report' and action = 'export';
