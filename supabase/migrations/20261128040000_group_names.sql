-- A group had any of its most frequent spellings. It has the latest of them now, as a rising product.
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
  members as materialized (
    select g.kind, g.rank, r.id from ranked as g join recent as r on r.batch_key = g.batch_key where g.rank <= 10 and g.kind = 'batch'
    union all
    select g.kind, g.rank, r.id from ranked as g join recent as r on r.shop_key = g.shop_key and r.place = g.place where g.rank <= 10 and g.kind = 'shop'
    union all
    select g.kind, g.rank, r.id from ranked as g join recent as r on r.product = g.product and r.place = g.place where g.rank <= 10 and g.kind = 'place'),
  -- Each spelling once, the most frequent first and of several the latest.
  spellings as (
    select m.kind, m.rank, w.part, btrim(w.words) as spelling,
           row_number() over (partition by m.kind, m.rank, w.part order by count(*) desc, max(r.created_at) desc, btrim(w.words)) as place
      from members as m join public.reports as r on r.id = m.id
     cross join lateral (values ('product', r.product_name), ('batch', r.batch_number), ('shop', r.where_bought)) as w (part, words)
     where w.part in ('product', m.kind)
     group by m.kind, m.rank, w.part, btrim(w.words)),
  names as (
    select s.kind, s.rank, max(s.spelling) filter (where s.part = case s.kind when 'place' then 'product' else s.kind end) as label,
           max(s.spelling) filter (where s.part = 'product') as product
      from spellings as s where s.place = 1 group by s.kind, s.rank),
  shown as (
    select g.kind, g.rank, g.n, g.open, g.first, g.last, n.label, n.product,
           array_agg(distinct r.region) filter (where r.region is not null) as regions,
           (array_agg(jsonb_build_object('id', r.id, 'reference', r.reference, 'status', r.status, 'created_at', r.created_at)
             order by r.created_at desc, r.id))[1:8] as reports
      from ranked as g join names as n on n.kind = g.kind and n.rank = g.rank
      join members as m on m.kind = g.kind and m.rank = g.rank join public.reports as r on r.id = m.id
     group by g.kind, g.rank, g.n, g.open, g.first, g.last, n.label, n.product)
  select coalesce(jsonb_agg(to_jsonb(s) - 'rank' order by s.kind, s.rank), '[]') from shown as s
$$;
comment on function private.report_groups(timestamptz) is
  'The largest groups of reports of one batch, one shop, or one product in one region, each with its most frequent spelling, and of several the latest.';
