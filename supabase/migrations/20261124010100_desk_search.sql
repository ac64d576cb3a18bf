-- The search finds a number and a reference in every form in which people write them: 0611000001 for +252 61 100 0001, and
-- "DW C7HJ" or c7hjhv2m for DW-C7HJ-HV2M.

drop index public.reports_search;
alter table public.reports drop column search_text;
alter table public.reports
  add column search_text text generated always as (lower(reference || e'\n' || replace(reference, '-', '') || e'\n' || product_name
    || e'\n' || coalesce(batch_number, '') || e'\n' || coalesce(where_bought, '') || e'\n' || coalesce(location, '')
    || e'\n' || issue_description || e'\n' || coalesce(name, '') || e'\n' || coalesce(phone, '')
    || e'\n' || regexp_replace(coalesce(phone, ''), '[^0-9]', '', 'g') || e'\n' || coalesce(phone_e164, ''))) stored;
comment on column public.reports.search_text is
  'Reference, product, shop, place, words, name and number in small letters, for the search. Reference and number also without punctuation.';
create index reports_search on public.reports using gin (search_text extensions.gin_trgm_ops);

create function private.search_patterns(words text) returns text[]
language sql immutable parallel safe set search_path = ''
as $$
  with form as (
    select lower(btrim(words)) as plain,
           regexp_replace(lower(words), '[^0-9a-z]', '', 'g') as letters,
           -- without the leading zero, or the code of the country that the report has and the searched form has not
           regexp_replace(regexp_replace(words, '[^0-9]', '', 'g'), '^(00)?(252)?0*', '') as digits)
  select array_remove(array[
           '%' || regexp_replace(f.plain, '([\\%_])', '\\\1', 'g') || '%',
           case when btrim(words) ~* '^(dw)?[-[:space:]]*[0-9a-z]{1,4}[-[:space:]]*[0-9a-z]{1,4}$' and char_length(f.letters) >= 3
             then '%' || case when f.letters like 'dw%' then 'dw' || translate(substr(f.letters, 3), 'oil', '011')
                              else translate(f.letters, 'oil', '011') end || '%' end,
           case when words ~ '^[0-9 +()./-]+$' and char_length(f.digits) >= 5 then '%' || f.digits || '%' end], null)
    from form as f
$$;
comment on function private.search_patterns(text) is
  'Patterns for reports.search_text: the words as they are, as a reference, and as a number without its prefix.';
revoke all on function private.search_patterns(text) from public;

-- Adds unassigned, overdue (the day of the caller), serious and ids to the filters.
create or replace function private.inbox_condition(filter jsonb) returns text
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
    case when filter @> '{"unassigned": true}' then 'r.assigned_to is null and r.status in (''new'', ''reviewing'')' end,
    case when filter @> '{"serious": true}' then 'cardinality(r.seriousness) > 0' end,
    case when filter ? 'overdue' then 'r.due_on < ($1 ->> ''overdue'')::date and r.status in (''new'', ''reviewing'')' end,
    case when jsonb_typeof(filter -> 'ids') = 'array' then
      'r.id = any (array(select jsonb_array_elements_text($1 -> ''ids''))::uuid[])' end,
    case when btrim(filter ->> 'search') <> '' then
      case when char_length(btrim(filter ->> 'search')) < 3 then
        format('(lower(r.product_name collate "C") like %1$s or r.reference like upper(%1$s))',
          '''%'' || regexp_replace(lower(btrim($1 ->> ''search'')), ''([\\%_])'', ''\\\1'', ''g'') || ''%''')
      else 'r.search_text like any (private.search_patterns($1 ->> ''search''))' end end)
$$;
comment on function private.inbox_condition(jsonb) is
  'Condition on reports r for a filter {status[], region, product, since, until, photo, mine, unassigned, serious, overdue, ids[], search}, which is parameter $1. A search of fewer than three letters looks in product and reference.';

drop function public.list_reports(jsonb, timestamptz, uuid, integer);
create function public.list_reports(filter jsonb default '{}', before timestamptz default null, before_id uuid default null, most integer default 100)
returns table (id uuid, reference text, status public.report_status, product_name text, region text, district text,
  language public.site_language, has_photo boolean, assigned_to uuid, possible_duplicate boolean, notes bigint, created_at timestamptz,
  version integer, seriousness public.report_seriousness[], priority public.report_priority, due_on date)
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
            p.possible_duplicate, (select count(*) from public.report_notes as n where n.report_id = p.id), p.created_at,
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
