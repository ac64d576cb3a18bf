-- A report in the desk is a case. Every change says which version of the report it saw, so one reviewer cannot overwrite the
-- change of another without being told. Seriousness has the criteria of ICH E2A and E2D, which WHO uses too.

create type public.report_seriousness as enum
  ('death', 'life_threatening', 'hospital', 'disability', 'congenital', 'important');
comment on type public.report_seriousness is 'Criteria that make a case serious (ICH E2A and E2D): one of them is enough.';
create type public.report_priority as enum ('normal', 'high', 'urgent');
comment on type public.report_priority is 'How soon a report needs work.';

alter table public.reports
  add column version integer not null default 1,
  add column seriousness public.report_seriousness[],
  add column priority public.report_priority not null default 'normal',
  add column due_on date;
comment on column public.reports.version is 'Grows with each change of a reviewer. A change names the version that it saw.';
comment on column public.reports.seriousness is 'Criteria of seriousness that the case meets; none for a case that is not serious; null before it is assessed.';
comment on column public.reports.priority is 'How soon the report needs work.';
comment on column public.reports.due_on is 'Day until which the next step is to be done.';
create index reports_due on public.reports (due_on) where due_on is not null and status in ('new', 'reviewing');
create index reports_unassigned on public.reports (created_at desc) where assigned_to is null and status in ('new', 'reviewing');

grant select (version, seriousness, priority, due_on) on table public.reports to authenticated;
-- private.change_report is the only way to change a report from now on.
drop policy "reviewers work on reports" on public.reports;
revoke update (status, assigned_to, duplicate_of) on table public.reports from authenticated;

create function private.count_report_version() returns trigger
language plpgsql set search_path = ''
as $$
begin
  if (new.status, new.assigned_to, new.duplicate_of, new.possible_duplicate_of, new.seriousness, new.priority, new.due_on) is distinct from
     (old.status, old.assigned_to, old.duplicate_of, old.possible_duplicate_of, old.seriousness, old.priority, old.due_on) then
    new.version := old.version + 1;
  end if;
  return new;
end $$;
comment on function private.count_report_version() is 'Raises the version of a report that a reviewer changes; for triggers.';
revoke all on function private.count_report_version() from public;
create trigger reports_version
  before update of status, assigned_to, duplicate_of, possible_duplicate_of, seriousness, priority, due_on on public.reports
  for each row execute function private.count_report_version();

create or replace function private.trail_report() returns trigger
language plpgsql security definer set search_path = ''
as $$
declare
  changes jsonb;
begin
  if tg_op = 'DELETE' then
    perform private.write_trail('delete', 'report', old.id::text, old.reference, jsonb_build_object(
      'reason', nullif(current_setting('app.reason', true), ''), 'status', old.status));
    update public.reports as r set duplicate_of = null where r.duplicate_of = old.id;
    return null;
  end if;
  select jsonb_object_agg(f.name, jsonb_build_array(to_jsonb(old) -> f.name, to_jsonb(new) -> f.name)) into changes
    from unnest(array['status', 'assigned_to', 'duplicate_of', 'possible_duplicate_of', 'seriousness', 'priority', 'due_on']) as f (name)
   where to_jsonb(old) -> f.name is distinct from to_jsonb(new) -> f.name;
  if new.reviewer_notes is distinct from old.reviewer_notes then
    changes := coalesce(changes, '{}') || '{"notes": "replaced"}';
  end if;
  if changes is not null then
    perform private.write_trail('change', 'report', new.id::text, new.reference, changes);
  end if;
  return null;
end $$;
drop trigger reports_trail on public.reports;
create trigger reports_trail
  after update of status, assigned_to, duplicate_of, possible_duplicate_of, seriousness, priority, due_on, reviewer_notes or delete
  on public.reports
  for each row execute function private.trail_report();

-- A note changes the time of its report, so open desks hear of it. It leaves the version: a note contradicts no change.
create function private.touch_noted_report() returns trigger
language plpgsql security definer set search_path = ''
as $$
begin
  update public.reports as r set updated_at = now() where r.id = new.report_id;
  return null;
end $$;
comment on function private.touch_noted_report() is 'Tells open desks of a note; for triggers.';
revoke all on function private.touch_noted_report() from public;
create trigger report_notes_touch after insert on public.report_notes for each row execute function private.touch_noted_report();

create function private.report_state(report public.reports) returns jsonb
language sql stable set search_path = ''
as $$
  select jsonb_build_object('version', report.version, 'status', report.status, 'assigned_to', report.assigned_to,
    'duplicate_of', report.duplicate_of, 'possible_duplicate_of', report.possible_duplicate_of, 'seriousness', report.seriousness,
    'priority', report.priority, 'due_on', report.due_on)
$$;
comment on function private.report_state(public.reports) is 'What a reviewer may change about a report, with its version.';
revoke all on function private.report_state(public.reports) from public;

create function private.change_report(report uuid, seen integer, change jsonb) returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  current public.reports;
  wanted public.reports;
begin
  if exists (select from jsonb_object_keys(change) as k where k not in
      ('status', 'assigned_to', 'duplicate_of', 'possible_duplicate_of', 'seriousness', 'priority', 'due_on'))
     or change ? 'status' and change ->> 'status' is null or change ? 'priority' and change ->> 'priority' is null then
    raise exception 'a reviewer cannot change this' using errcode = '42501';
  end if;
  select r.* into current from public.reports as r where r.id = report for update;
  if not found then
    return jsonb_build_object('id', report, 'result', 'missing');
  end if;
  wanted := jsonb_populate_record(current, change);
  if private.report_state(wanted) = private.report_state(current) then
    return jsonb_build_object('id', report, 'result', 'done', 'state', private.report_state(current));
  end if;
  if current.version <> seen then
    return jsonb_build_object('id', report, 'result', 'conflict', 'state', private.report_state(current), 'by', (
      select jsonb_build_object('id', t.actor, 'name', t.actor_name, 'at', t.at) from public.staff_trail as t
       where t.subject = 'report' and t.subject_id = report::text and t.action = 'change' order by t.id desc limit 1));
  end if;
  if change ->> 'duplicate_of' is not null
     and not exists (select from public.reports as r where r.id = wanted.duplicate_of) then
    raise exception 'no report has this id' using errcode = 'PT404';
  end if;
  update public.reports as r
     set status = wanted.status, assigned_to = wanted.assigned_to, duplicate_of = wanted.duplicate_of,
         possible_duplicate_of = wanted.possible_duplicate_of, seriousness = wanted.seriousness, priority = wanted.priority,
         due_on = wanted.due_on
   where r.id = report
  returning r.* into current;
  return jsonb_build_object('id', report, 'result', 'done', 'state', private.report_state(current));
end $$;
comment on function private.change_report(uuid, integer, jsonb) is
  'Changes a report if its version is the one that the caller saw, or if it has the values already.';
revoke all on function private.change_report(uuid, integer, jsonb) from public;

-- Adds duplicate_id, so that a reviewer can take back a change of it.
create or replace function public.read_report(name text) returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  report public.reports;
begin
  perform private.require_reviewer();
  select r.* into report from public.reports as r where r.reference = upper(btrim(read_report.name));
  if not found then
    raise exception 'no report has this reference' using errcode = 'PT404';
  end if;
  if not exists (select from public.staff_trail as t where t.actor = auth.uid() and t.action = 'read'
                    and t.subject_id = report.id::text and t.at > now() - interval '10 minutes') then
    perform private.write_trail('read', 'report', report.id::text, report.reference);
  end if;
  return to_jsonb(report) - '{idempotency_key,search_text}'::text[] || jsonb_build_object(
    'duplicate_of', (select r.reference from public.reports as r where r.id = report.duplicate_of),
    'duplicate_id', report.duplicate_of,
    'notes', (select coalesce(jsonb_agg(jsonb_build_object('id', n.id, 'author', n.author, 'author_name', n.author_name, 'body', n.body,
                'created_at', n.created_at) order by n.id), '[]') from public.report_notes as n where n.report_id = report.id),
    'similar', (select coalesce(jsonb_agg(s order by s.created_at desc), '[]') from (
       select r.id, r.reference, r.status, r.product_name, r.region, r.district, r.created_at,
              r.id is not distinct from report.possible_duplicate_of or r.possible_duplicate_of = report.id as likely
         from public.reports as r
        where r.id <> report.id and (r.id = report.possible_duplicate_of or r.possible_duplicate_of = report.id or
              lower(btrim(r.product_name)) = lower(btrim(report.product_name))
              and r.created_at between report.created_at - interval '30 days' and report.created_at + interval '30 days')
        order by likely desc, r.created_at desc limit 6) as s));
end $$;

create function public.change_reports(changes jsonb) returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  results jsonb := '[]';
  item jsonb;
begin
  perform private.require_reviewer();
  if jsonb_array_length(changes) > 200 then
    raise exception 'at most 200 reports can be changed at once' using errcode = '54000';
  end if;
  for item in select c from jsonb_array_elements(changes) as c order by c ->> 'id' loop -- one order of locks for all callers
    results := results || private.change_report((item ->> 'id')::uuid, (item ->> 'version')::integer, item -> 'set');
  end loop;
  return results;
end $$;
comment on function public.change_reports(jsonb) is
  'Changes reports by [{id, version, set}] and returns [{id, result, state, by}]: done, missing, or conflict, with the present values and the member who set them. Reviewers only.';
revoke all on function public.change_reports(jsonb) from public, anon, authenticated, service_role;
grant execute on function public.change_reports(jsonb) to authenticated;

-- Who works at the desk, and on which report, for reviewers. The messages hold the ids of a member and of a report.
create policy "reviewers see who is here" on realtime.messages for select to authenticated
  using (extension = 'presence' and (select realtime.topic()) = 'reports' and (select private.is_reviewer()));
create policy "reviewers show that they are here" on realtime.messages for insert to authenticated
  with check (extension = 'presence' and (select realtime.topic()) = 'reports' and (select private.is_reviewer()));
