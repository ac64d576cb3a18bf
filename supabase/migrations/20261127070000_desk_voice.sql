-- A person may answer, or tell more, by a voice message on WhatsApp. A reviewer logs it, and the list marks its report.

alter type public.contact_channel add value 'voice' after 'whatsapp';
comment on type public.contact_channel is 'Ways in which a reviewer and the person of a report reach each other; voice is a voice message.';

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

-- Groups by the keys themselves: half the time of texts that join them.
create or replace function private.report_groups(since timestamptz) returns jsonb
language sql stable set search_path = ''
as $$
  with recent as materialized (
    select r.id, r.status, r.created_at, r.batch_key, r.shop_key, coalesce(r.region, '') as place,
           case when r.created_at > now() - interval '42 days' and r.region is not null then lower(btrim(r.product_name)) end as product
      from public.reports as r where r.created_at >= since and r.duplicate_of is null),
  groups as (
    select 'batch' as kind, r.batch_key, null as shop_key, null as product, null as place, count(*)::integer as n,
           count(*) filter (where r.status in ('new', 'reviewing'))::integer as open, max(r.created_at) as last, min(r.created_at) as first
      from recent as r where r.batch_key is not null group by r.batch_key having count(*) >= 2
    union all
    select 'shop', null, r.shop_key, null, r.place, count(*), count(*) filter (where r.status in ('new', 'reviewing')), max(r.created_at), min(r.created_at)
      from recent as r where r.shop_key is not null group by r.shop_key, r.place having count(*) >= 3
    union all
    select 'place', null, null, r.product, r.place, count(*), count(*) filter (where r.status in ('new', 'reviewing')), max(r.created_at), min(r.created_at)
      from recent as r where r.product is not null group by r.product, r.place having count(*) >= 3),
  ranked as materialized (
    select g.*, row_number() over (partition by g.kind order by g.open > 0 desc, g.n desc, g.last desc,
             g.batch_key, g.shop_key, g.product, g.place) as rank
      from groups as g),
  members as (
    select g.kind, g.rank, r.id from ranked as g join recent as r on r.batch_key = g.batch_key where g.rank <= 10 and g.kind = 'batch'
    union all
    select g.kind, g.rank, r.id from ranked as g join recent as r on r.shop_key = g.shop_key and r.place = g.place where g.rank <= 10 and g.kind = 'shop'
    union all
    select g.kind, g.rank, r.id from ranked as g join recent as r on r.product = g.product and r.place = g.place where g.rank <= 10 and g.kind = 'place'),
  shown as (
    select g.kind, g.rank, g.n, g.open, g.first, g.last,
           mode() within group (order by btrim(case g.kind when 'batch' then r.batch_number when 'shop' then r.where_bought else r.product_name end)) as label,
           mode() within group (order by btrim(r.product_name)) as product,
           array_agg(distinct r.region) filter (where r.region is not null) as regions,
           (array_agg(jsonb_build_object('id', r.id, 'reference', r.reference, 'status', r.status, 'created_at', r.created_at)
             order by r.created_at desc, r.id))[1:8] as reports
      from ranked as g join members as m on m.kind = g.kind and m.rank = g.rank join public.reports as r on r.id = m.id
     group by g.kind, g.rank, g.n, g.open, g.first, g.last)
  select coalesce(jsonb_agg(to_jsonb(s) - 'rank' order by s.kind, s.rank), '[]') from shown as s
$$;
