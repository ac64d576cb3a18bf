-- A person may answer, or tell more, by a voice message on WhatsApp. A reviewer logs it, and the list marks its report.

drop function public.list_reports(jsonb, timestamptz, uuid, integer);
create function public.list_reports(filter jsonb default '{}', before timestamptz default null, before_id uuid default null, most integer default 100)
returns table (id uuid, reference text, status public.report_status, product_name text, region text, district text,
  language public.site_language, has_photo boolean, assigned_to uuid, possible_duplicate boolean, notes bigint, voice_messages bigint,
  created_at timestamptz, version integer, seriousness public.report_seriousness[], priority public.report_priority, due_on date)
language plpgsql volatile security definer set search_path = ''
as $$
declare
  oldest constant boolean := filter ->> 'order' is not distinct from 'oldest';
  direction constant text := case when oldest then 'asc' else 'desc' end;
begin
  perform private.require_reviewer();
  perform private.trail_search(filter);
  return query execute
    'with page as (
       select r.id, r.reference, r.status, r.product_name, r.region, r.district, r.language, r.photo_url is not null as has_photo,
              r.assigned_to, coalesce(r.possible_duplicate_of, r.duplicate_of) is not null as possible_duplicate, r.created_at,
              r.version, r.seriousness, r.priority, r.due_on
         from public.reports as r
        where ' || private.inbox_condition(filter)
      || case when before is null then '' else ' and (r.created_at, r.id) ' || case when oldest then '>' else '<' end || ' ($2, $3)' end
      || format(' order by r.created_at %1$s, r.id %1$s limit $4)
     select p.id, p.reference, p.status, p.product_name, p.region, p.district, p.language, p.has_photo, p.assigned_to,
            p.possible_duplicate, (select count(*) from public.report_notes as n where n.report_id = p.id),
            (select count(*) from public.report_contacts as c where c.report_id = p.id and c.channel = ''voice''), p.created_at,
            p.version, p.seriousness, p.priority, p.due_on
       from page as p order by p.created_at %1$s, p.id %1$s', direction)
    using filter, before,
      coalesce(before_id, case when oldest then '00000000-0000-0000-0000-000000000000' else 'ffffffff-ffff-ffff-ffff-ffffffffffff' end::uuid),
      least(greatest(coalesce(most, 100), 1), 500);
end $$;
comment on function public.list_reports(jsonb, timestamptz, uuid, integer) is
  'Reports that match a filter, newest first (order oldest: oldest first), from a position on; columns that identify no person. A search writes to the trail. Reviewers only.';
revoke all on function public.list_reports(jsonb, timestamptz, uuid, integer) from public, anon, authenticated, service_role;
grant execute on function public.list_reports(jsonb, timestamptz, uuid, integer) to authenticated;
