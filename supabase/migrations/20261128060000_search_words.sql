-- The search of the desk finds words in any order, and apart from the marks that each keyboard writes in its own way:
-- su’aal for su'aal, Creme for Crème.

create function private.searchable(words text) returns text
language sql immutable parallel safe set search_path = ''
as $$ select translate(lower(words), '‘’ʼʻ`´“”„«»–—‑àáâäãåçèéêëğìíîïıñòóôöõşùúûü', '''''''''''''"""""---aaaaaaceeeegiiiiinooooosuuuu') $$;
comment on function private.searchable(text) is 'Small letters with plain quotation marks and hyphens, and without accents, for the search.';
revoke all on function private.searchable(text) from public;
grant execute on function private.searchable(text) to service_role; -- which adds reports

drop index public.reports_search;
alter table public.reports drop column search_text;
alter table public.reports
  add column search_text text generated always as (private.searchable(reference || e'\n' || replace(reference, '-', '')
    || e'\n' || product_name || e'\n' || coalesce(batch_number, '') || e'\n' || coalesce(where_bought, '')
    || e'\n' || coalesce(location, '') || e'\n' || issue_description || e'\n' || coalesce(name, '')
    || e'\n' || coalesce(phone, '') || e'\n' || regexp_replace(coalesce(phone, ''), '[^0-9]', '', 'g')
    || e'\n' || coalesce(phone_e164, ''))) stored;
comment on column public.reports.search_text is
  'Reference, product, shop, place, words, name and number for the search, by private.searchable. Reference and number also without punctuation.';
create index reports_search on public.reports using gin (search_text extensions.gin_trgm_ops);

create function private.search_words(words text) returns text[]
language sql immutable parallel safe set search_path = ''
as $$
  select case when words ~ '^[0-9 +()./-]+$' or words !~ '[^[:space:]]{3}' -- of a number the groups alone are in many others
              then array['%' || p.escaped || '%']
              else (select array_agg('%' || w || '%') from (select w from regexp_split_to_table(p.escaped, '[[:space:]]+') as w limit 12) as parts) end
    from (select regexp_replace(private.searchable(btrim(words)), '([\\%_])', '\\\1', 'g') as escaped) as p
$$;
comment on function private.search_words(text) is
  'Patterns of which a report of a search matches all: one for each of twelve words, or the whole for a number and for short words alone.';

create or replace function private.search_patterns(words text) returns text[]
language sql immutable parallel safe set search_path = ''
as $$
  with form as (
    select regexp_replace(lower(words), '[^0-9a-z]', '', 'g') as letters,
           -- without the leading zero, or the code of the country that the report has and the searched form has not
           regexp_replace(regexp_replace(words, '[^0-9]', '', 'g'), '^(00)?(252)?0*', '') as digits)
  select array_remove(array[
           case when btrim(words) ~* '^(dw)?[-[:space:]]*[0-9a-z]{1,4}[-[:space:]]*[0-9a-z]{1,4}$' and char_length(f.letters) >= 3
             then '%' || case when f.letters like 'dw%' then 'dw' || translate(substr(f.letters, 3), 'oil', '011')
                              else translate(f.letters, 'oil', '011') end || '%' end,
           case when words ~ '^[0-9 +()./-]+$' and char_length(f.digits) >= 5 then '%' || f.digits || '%' end], null)
    from form as f
$$;
comment on function private.search_patterns(text) is
  'Patterns of which a report of a search may match one instead: the words as a reference, and as a number without its prefix.';
revoke all on function private.search_words(text) from public;

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
      else (
        -- one condition for each word, because LIKE ALL uses no index
        select '(' || string_agg(format('r.search_text like (private.search_words($1 ->> ''search''))[%s]', i), ' and ')
               || ' or r.search_text like any (private.search_patterns($1 ->> ''search'')))'
          from generate_series(1, array_length(private.search_words(filter ->> 'search'), 1)) as i) end end)
$$;
comment on function private.inbox_condition(jsonb) is
  'Condition on reports r for a filter {status[], region, product, since, until, photo, mine, unassigned, serious, overdue, ids[], search}, which is parameter $1. A search finds all its words, in any order; one of fewer than three letters looks in product and reference.';
