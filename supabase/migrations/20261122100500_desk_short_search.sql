-- A word of one or two letters has no trigram, so the index of the search cannot find it, and reading the text of every report
-- takes three times as long as reading two short columns. Short words are looked for in product and reference.
-- The collation C makes lower() three times as fast; it changes the letters of ASCII alone.
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
    case when btrim(filter ->> 'search') <> '' then
      format(case when char_length(btrim(filter ->> 'search')) < 3 then '(lower(r.product_name collate "C") like %1$s or r.reference like upper(%1$s))'
                  else 'r.search_text like %1$s' end,
        '''%'' || regexp_replace(lower(btrim($1 ->> ''search'')), ''([\\%_])'', ''\\\1'', ''g'') || ''%''') end)
$$;
comment on function private.inbox_condition(jsonb) is
  'Condition on reports r for a filter {status[], region, product, since, until, photo, mine, search}, which is parameter $1. A search of fewer than three letters looks in product and reference.';
