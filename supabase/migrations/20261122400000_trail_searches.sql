-- A search of three letters or more looks in names, numbers and words of reports. Its result shows none of them, but tells
-- that a report contains the text, so repeated searches could spell out a number. Each search leaves a row in the trail.

alter table public.staff_trail drop constraint staff_trail_action_known,
  add constraint staff_trail_action_known check (action in
    ('read', 'search', 'change', 'add', 'note', 'forward', 'export', 'delete', 'retry', 'invite', 'role', 'remove', 'run'));
create index staff_trail_searches on public.staff_trail (actor, at desc) where action = 'search';

-- The row holds a hash of the text, keyed with the id of the session: an owner who reads the trail has no such id, so the
-- hash of a known number cannot be recomputed. One member who searches the same text again within ten minutes leaves one row;
-- so the list, its next pages and its count leave one together.
create function private.trail_search(filter jsonb) returns void
language plpgsql volatile security definer set search_path = ''
as $$
declare
  words constant text := lower(btrim(filter ->> 'search'));
  hash text;
begin
  if words is null or char_length(words) < 3 then
    return; -- private.inbox_condition looks in product and reference only
  end if;
  hash := left(encode(sha256(convert_to(coalesce(auth.jwt() ->> 'session_id', '') || ':' || words, 'UTF8')), 'hex'), 16);
  -- The desk asks for the list and the count at once: the second transaction waits, and then sees the row of the first.
  perform pg_advisory_xact_lock(hashtextextended(auth.uid()::text || hash, 0));
  if not exists (select from public.staff_trail as t where t.actor = auth.uid() and t.action = 'search'
                    and t.at > now() - interval '10 minutes' and t.detail ->> 'hash' = hash) then
    perform private.write_trail('search', 'report', null, null, jsonb_build_object('hash', hash));
  end if;
end $$;
comment on function private.trail_search(jsonb) is
  'Writes to the trail that the caller searched in the words of reports, with a keyed hash of the text.';
revoke all on function private.trail_search(jsonb) from public;

create or replace function public.list_reports(filter jsonb default '{}', before timestamptz default null, before_id uuid default null, most integer default 100)
returns table (id uuid, reference text, status public.report_status, product_name text, region text, district text,
  language public.site_language, has_photo boolean, assigned_to uuid, possible_duplicate boolean, notes bigint, created_at timestamptz)
language plpgsql volatile security definer set search_path = ''
as $$
begin
  perform private.require_reviewer();
  perform private.trail_search(filter);
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

create or replace function public.count_reports(filter jsonb default '{}') returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  result jsonb;
begin
  perform private.require_reviewer();
  perform private.trail_search(filter);
  execute 'select coalesce(jsonb_object_agg(c.status, c.n), ''{}'') from (
    select r.status, count(*) as n from public.reports as r where ' || private.inbox_condition(filter - 'status') || ' group by r.status) as c'
    into result using filter;
  return result;
end $$;

comment on function public.list_reports(jsonb, timestamptz, uuid, integer) is
  'Reports that match a filter, newest first, from a position on; columns that identify no person. A search writes to the trail. Reviewers only.';
comment on function public.count_reports(jsonb) is
  'Number of reports by status for a filter, whose status is ignored. A search writes to the trail. Reviewers only.';
comment on table public.staff_trail is
  'Who read, searched, changed, exported or deleted what. Append-only: rows stay after their subject is deleted, and hold none of its content.';
