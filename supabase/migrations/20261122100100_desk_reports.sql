-- Reports in the desk. A reviewer may list every report by columns that identify no person. The whole report comes from
-- read_report alone, which writes the trail: no client can read a person's words without leaving a row there.

create extension if not exists pg_trgm with schema extensions;

alter table public.reports
  add column assigned_to uuid,
  add column first_action_at timestamptz,
  add column duplicate_of uuid, -- without a foreign key: a second one would make embedding reports in reports ambiguous
  -- The text in which the search looks, stored: computing it for each row takes 15 times as long as reading it.
  add column search_text text generated always as (lower(reference || e'\n' || product_name || e'\n' || coalesce(batch_number, '')
    || e'\n' || coalesce(where_bought, '') || e'\n' || coalesce(location, '') || e'\n' || issue_description || e'\n'
    || coalesce(name, '') || e'\n' || coalesce(phone, '') || e'\n' || coalesce(phone_e164, ''))) stored,
  add constraint reports_duplicate_of_another check (duplicate_of <> id);
comment on column public.reports.assigned_to is 'Account of the reviewer who works on the report.';
comment on column public.reports.search_text is 'Reference, product, shop, place, words, name and number in small letters, for the search.';
comment on column public.reports.first_action_at is 'When the status first left new.';
comment on column public.reports.duplicate_of is 'Id of the report of which a reviewer has found this one to be a copy.';

create table public.report_notes (
  id bigint generated always as identity primary key,
  report_id uuid not null references public.reports (id) on delete cascade,
  author uuid,
  author_name text not null default '',
  body text not null,
  created_at timestamptz not null default now(),
  constraint report_notes_body_given check (btrim(body) <> '' and char_length(body) <= 5000)
);
comment on table public.report_notes is 'Notes of reviewers on a report. They are added, not changed; they go with the report.';
comment on column public.report_notes.id is 'Order of the notes.';
comment on column public.report_notes.report_id is 'The report.';
comment on column public.report_notes.author is 'Account of the author; empty for the command line.';
comment on column public.report_notes.author_name is 'Mail address of the author at that time.';
comment on column public.report_notes.body is 'The note.';
comment on column public.report_notes.created_at is 'When it was written.';
create index report_notes_report on public.report_notes (report_id, id);

create function private.sign_note() returns trigger
language plpgsql security definer set search_path = ''
as $$
begin
  new.author := auth.uid();
  new.created_at := now();
  new.author_name := coalesce((select u.email from auth.users as u where u.id = new.author),
    nullif(current_setting('app.actor', true), ''), auth.role(), 'program');
  return new;
end $$;
comment on function private.sign_note() is 'Sets author and time of a note, whatever the client sent; for triggers.';
create function private.trail_note() returns trigger
language plpgsql security definer set search_path = ''
as $$
begin
  perform private.write_trail('note', 'report', new.report_id::text, (select r.reference from public.reports as r where r.id = new.report_id));
  return null;
end $$;
comment on function private.trail_note() is 'Writes to the trail that a note was added, without its text; for triggers.';
revoke all on function private.sign_note(), private.trail_note() from public;
create trigger report_notes_sign before insert on public.report_notes for each row execute function private.sign_note();
create trigger report_notes_trail after insert on public.report_notes for each row execute function private.trail_note();

alter table public.report_notes enable row level security;
revoke all on table public.report_notes from public, anon, authenticated;
grant select (id, report_id, author, created_at) on table public.report_notes to authenticated;
grant insert (report_id, body) on table public.report_notes to authenticated;
grant select, insert, delete on table public.report_notes to service_role;
create policy "reviewers see that notes exist" on public.report_notes
  for select to authenticated using ((select private.is_reviewer()));
create policy "reviewers add notes" on public.report_notes
  for insert to authenticated with check ((select private.is_reviewer()));

create function private.review_report() returns trigger
language plpgsql security definer set search_path = ''
as $$
begin
  if old.status = 'new' and new.status <> 'new' and new.first_action_at is null then
    new.first_action_at := now();
  end if;
  if new.assigned_to is distinct from old.assigned_to and new.assigned_to is not null and not exists (
    select from auth.users as u where u.id = new.assigned_to and u.raw_app_meta_data ->> 'staff_role' in ('reviewer', 'owner')) then
    raise exception 'a report is assigned to a reviewer or an owner' using errcode = '23514';
  end if;
  return new;
end $$;
comment on function private.review_report() is 'Keeps the time of the first action, and refuses assignment to other accounts; for triggers.';
create function private.trail_report() returns trigger
language plpgsql security definer set search_path = ''
as $$
declare
  changes jsonb := '{}';
begin
  if tg_op = 'DELETE' then
    perform private.write_trail('delete', 'report', old.id::text, old.reference, jsonb_build_object(
      'reason', nullif(current_setting('app.reason', true), ''), 'status', old.status));
    update public.reports as r set duplicate_of = null where r.duplicate_of = old.id;
    return null;
  end if;
  if new.status <> old.status then
    changes := changes || jsonb_build_object('status', jsonb_build_array(old.status, new.status));
  end if;
  if new.assigned_to is distinct from old.assigned_to then
    changes := changes || jsonb_build_object('assigned_to', jsonb_build_array(old.assigned_to, new.assigned_to));
  end if;
  if new.duplicate_of is distinct from old.duplicate_of then
    changes := changes || jsonb_build_object('duplicate_of', jsonb_build_array(old.duplicate_of, new.duplicate_of));
  end if;
  if new.reviewer_notes is distinct from old.reviewer_notes then
    changes := changes || '{"notes": "replaced"}';
  end if;
  if changes <> '{}' then
    perform private.write_trail('change', 'report', new.id::text, new.reference, changes);
  end if;
  return null;
end $$;
comment on function private.trail_report() is 'Writes changes and deletions of reports to the trail, without texts; for triggers.';
revoke all on function private.review_report(), private.trail_report() from public;
create trigger reports_review before update of status, assigned_to on public.reports
  for each row execute function private.review_report();
create trigger reports_trail after update of status, assigned_to, duplicate_of, reviewer_notes or delete on public.reports
  for each row execute function private.trail_report();

-- The columns of a list. where_bought, location and the rest may name a person.
grant select (id, reference, status, product_name, region, district, language, photo_metadata, possible_duplicate_of, duplicate_of,
  assigned_to, first_action_at, created_at, updated_at) on table public.reports to authenticated;
grant update (status, assigned_to, duplicate_of) on table public.reports to authenticated;
create policy "reviewers list reports" on public.reports
  for select to authenticated using ((select private.is_reviewer()));
create policy "reviewers work on reports" on public.reports
  for update to authenticated using ((select private.is_reviewer())) with check ((select private.is_reviewer()));

create index reports_status on public.reports (status, created_at desc, id desc);
create index reports_region on public.reports (region, created_at desc);
create index reports_assigned on public.reports (assigned_to, created_at desc) where assigned_to is not null;
create index reports_search on public.reports using gin (search_text extensions.gin_trgm_ops);
create index reports_copies on public.reports (duplicate_of) where duplicate_of is not null;
create index reports_first_action on public.reports (created_at) include (first_action_at, status);

create function private.require_reviewer() returns void
language plpgsql stable security definer set search_path = ''
as $$
begin
  if not private.is_reviewer() then
    raise exception 'reviewers only' using errcode = '42501';
  end if;
end $$;
comment on function private.require_reviewer() is 'Raises 42501 unless the caller may work on reports.';
revoke all on function private.require_reviewer() from public;

-- Conditions are fixed texts chosen by which values are given, so that each query is planned for its filter; values stay
-- parameters.
create function private.inbox_condition(filter jsonb) returns text
language sql immutable set search_path = ''
as $$
  select concat_ws(' and ', 'true',
    case when jsonb_typeof(filter -> 'status') = 'array' then
      'r.status = any (array(select jsonb_array_elements_text($1 -> ''status''))::public.report_status[])' end,
    case when filter ->> 'region' = '-' then 'r.region is null' when filter ? 'region' then 'r.region = $1 ->> ''region''' end,
    case when filter ? 'product' then 'lower(btrim(r.product_name)) = lower(btrim($1 ->> ''product''))' end,
    case when filter ? 'since' then 'r.created_at >= ($1 ->> ''since'')::timestamptz' end,
    case when filter ? 'until' then 'r.created_at < ($1 ->> ''until'')::timestamptz' end,
    case when filter @> '{"photo": true}' then 'r.photo_url is not null' end,
    case when filter @> '{"mine": true}' then 'r.assigned_to = auth.uid()' end,
    case when btrim(filter ->> 'search') <> '' then
      'r.search_text like ''%'' || regexp_replace(lower(btrim($1 ->> ''search'')), ''([\\%_])'', ''\\\1'', ''g'') || ''%''' end)
$$;
comment on function private.inbox_condition(jsonb) is
  'Condition on reports r for a filter {status[], region, product, since, until, photo, mine, search}, which is parameter $1.';

create function public.list_reports(filter jsonb default '{}', before timestamptz default null, before_id uuid default null, most integer default 100)
returns table (id uuid, reference text, status public.report_status, product_name text, region text, district text,
  language public.site_language, has_photo boolean, assigned_to uuid, possible_duplicate boolean, notes bigint, created_at timestamptz)
language plpgsql stable security definer set search_path = ''
as $$
begin
  perform private.require_reviewer();
  return query execute
    'with page as (
       select r.id, r.reference, r.status, r.product_name, r.region, r.district, r.language, r.photo_url is not null as has_photo,
              r.assigned_to, coalesce(r.possible_duplicate_of, r.duplicate_of) is not null as possible_duplicate, r.created_at
         from public.reports as r
        where ' || private.inbox_condition(filter)
      || case when before is not null then ' and (r.created_at, r.id) < ($2, $3)' else '' end
      || ' order by r.created_at desc, r.id desc limit $4)
     select p.id, p.reference, p.status, p.product_name, p.region, p.district, p.language, p.has_photo, p.assigned_to,
            p.possible_duplicate, (select count(*) from public.report_notes as n where n.report_id = p.id), p.created_at
       from page as p order by p.created_at desc, p.id desc'
    using filter, before, coalesce(before_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid), least(greatest(coalesce(most, 100), 1), 500);
end $$;
comment on function public.list_reports(jsonb, timestamptz, uuid, integer) is
  'Reports that match a filter, newest first, from a position on; columns that identify no person. Reviewers only.';

create function public.count_reports(filter jsonb default '{}') returns jsonb
language plpgsql stable security definer set search_path = ''
as $$
declare
  result jsonb;
begin
  perform private.require_reviewer();
  execute 'select coalesce(jsonb_object_agg(c.status, c.n), ''{}'') from (
    select r.status, count(*) as n from public.reports as r where ' || private.inbox_condition(filter - 'status') || ' group by r.status) as c'
    into result using filter;
  return result;
end $$;
comment on function public.count_reports(jsonb) is 'Number of reports by status for a filter, whose status is ignored. Reviewers only.';

-- One person who reads the same report again within ten minutes leaves one row.
create function public.read_report(name text) returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  report public.reports;
begin
  perform private.require_reviewer();
  select r.* into report from public.reports as r where r.reference = upper(btrim(read_report.name));
  if not found then
    raise exception 'no report has this reference' using errcode = 'P0002';
  end if;
  if not exists (select from public.staff_trail as t where t.actor = auth.uid() and t.action = 'read'
                    and t.subject_id = report.id::text and t.at > now() - interval '10 minutes') then
    perform private.write_trail('read', 'report', report.id::text, report.reference);
  end if;
  return to_jsonb(report) - '{idempotency_key,search_text}'::text[] || jsonb_build_object(
    'duplicate_of', (select r.reference from public.reports as r where r.id = report.duplicate_of),
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
comment on function public.read_report(text) is
  'A whole report with its notes and similar reports. Writes to the trail who read it. Reviewers only.';

create function public.forward_report(name text) returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  report public.reports;
begin
  perform private.require_reviewer();
  select r.* into report from public.reports as r where r.reference = upper(btrim(forward_report.name));
  if not found then
    raise exception 'no report has this reference' using errcode = 'P0002';
  end if;
  perform private.write_trail('forward', 'report', report.id::text, report.reference);
  return jsonb_build_object('reference', report.reference, 'created_at', report.created_at, 'product_name', report.product_name,
    'batch_number', report.batch_number, 'expiry_date', report.expiry_date, 'region', report.region, 'district', report.district);
end $$;
comment on function public.forward_report(text) is
  'The fields of a report that identify no person, for an authority. Writes to the trail. Reviewers only.';

create table private.photos_to_remove (
  name text primary key,
  since timestamptz not null default now()
);
comment on table private.photos_to_remove is 'Photos of deleted reports, until their files are removed.';
comment on column private.photos_to_remove.name is 'Name in the bucket report-photos.';
comment on column private.photos_to_remove.since is 'When the report was deleted.';
alter table private.photos_to_remove enable row level security;
revoke all on table private.photos_to_remove from public, anon, authenticated;
grant select, delete on table private.photos_to_remove to service_role;

create function public.delete_report(name text, reason text) returns text
language plpgsql volatile security definer set search_path = ''
as $$
declare
  report public.reports;
begin
  perform private.require_owner();
  if char_length(btrim(coalesce(delete_report.reason, ''))) not between 3 and 500 then
    raise exception 'a reason of 3 to 500 characters is required' using errcode = '23514';
  end if;
  select r.* into report from public.reports as r where r.reference = upper(btrim(delete_report.name)) for update;
  if not found then
    raise exception 'no report has this reference' using errcode = 'P0002';
  end if;
  if report.photo_url is not null then
    insert into private.photos_to_remove (name) values (report.photo_url) on conflict do nothing;
  end if;
  perform set_config('app.reason', btrim(delete_report.reason), true);
  delete from public.reports as r where r.id = report.id;
  return report.photo_url;
end $$;
comment on function public.delete_report(text, text) is
  'Deletes a report with a reason, which the trail keeps. Returns the name of the photo, whose file is to be removed. Owners only.';

create function public.export_reports(since timestamptz default '-infinity', until timestamptz default 'infinity', after uuid default null, most integer default 1000)
returns setof jsonb
language plpgsql volatile security definer set search_path = ''
as $$
begin
  perform private.require_owner();
  if export_reports.after is null then
    perform private.write_trail('export', 'report', null, null, jsonb_build_object(
      'reports', (select count(*) from public.reports as r where r.created_at >= since and r.created_at < until),
      'since', nullif(since, '-infinity'), 'until', nullif(until, 'infinity')));
  end if;
  return query
    select to_jsonb(r) - '{idempotency_key,search_text,photo_url}'::text[] from public.reports as r
     where r.created_at >= export_reports.since and r.created_at < export_reports.until
       and (export_reports.after is null or r.id > export_reports.after)
     order by r.id limit least(greatest(export_reports.most, 1), 1000);
end $$;
comment on function public.export_reports(timestamptz, timestamptz, uuid, integer) is
  'Reports of a period with all fields, in pages by id. The first page writes the export to the trail. Owners only.';

-- A photo can be opened for an hour by the reviewer who has opened its report, so the trail knows of every look.
create function private.may_see_report_photo(object_name text) returns boolean
language sql stable security definer set search_path = ''
as $$
  select private.is_reviewer() and exists (
      select from public.reports as r join public.staff_trail as t on t.subject_id = r.id::text and t.action = 'read'
       where r.photo_url = object_name and t.actor = auth.uid() and t.at > now() - interval '1 hour')
    or private.is_owner() and exists (select from private.photos_to_remove as p where p.name = object_name)
$$;
comment on function private.may_see_report_photo(text) is
  'Whether the caller has opened the report of a photo within the last hour, or may remove the photo of a deleted report.';
create function private.may_remove_report_photo(object_name text) returns boolean
language sql stable security definer set search_path = ''
as $$
  select private.is_owner() and exists (select from private.photos_to_remove as p where p.name = object_name)
$$;
comment on function private.may_remove_report_photo(text) is 'Whether the caller is an owner and the report of the photo is deleted.';
revoke all on function private.may_see_report_photo(text), private.may_remove_report_photo(text), private.inbox_condition(jsonb) from public;
grant execute on function private.may_see_report_photo(text), private.may_remove_report_photo(text) to authenticated;
create policy "reviewers see photos of opened reports" on storage.objects
  for select to authenticated using (case when bucket_id = 'report-photos' then private.may_see_report_photo(name) else false end);
create policy "owners remove photos of deleted reports" on storage.objects
  for delete to authenticated using (case when bucket_id = 'report-photos' then private.may_remove_report_photo(name) else false end);

revoke all on function public.list_reports(jsonb, timestamptz, uuid, integer), public.count_reports(jsonb), public.read_report(text),
  public.forward_report(text), public.delete_report(text, text), public.export_reports(timestamptz, timestamptz, uuid, integer)
  from public, anon, authenticated, service_role;
grant execute on function public.list_reports(jsonb, timestamptz, uuid, integer), public.count_reports(jsonb), public.read_report(text),
  public.forward_report(text), public.export_reports(timestamptz, timestamptz, uuid, integer) to authenticated;
grant execute on function public.delete_report(text, text) to authenticated, service_role;

-- Realtime tells open desks that a report came or changed. Only columns that identify no person are published. Where another
-- role owns the publication, desks refresh by themselves; its owner can add the table.
do $$
begin
  if exists (select from pg_publication where pubname = 'supabase_realtime' and not puballtables
              and pg_has_role(current_user, pubowner, 'usage')) then
    alter publication supabase_realtime add table public.reports (id, reference, status, product_name, region, district, assigned_to, created_at, updated_at);
  end if;
end $$;
