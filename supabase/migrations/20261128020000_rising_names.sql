-- A rising product had the spelling that is first in the alphabet. It has the most frequent one now, and of several the latest.
create or replace function private.rising_products() returns jsonb
language sql stable set search_path = ''
as $$
  with counted as materialized (
    select lower(btrim(r.product_name)) as product, floor(extract(epoch from now() - r.created_at) / 604800)::integer as week,
           count(*)::integer as n
      from public.reports as r
     where r.created_at > now() - interval '91 days' and r.created_at <= now() and r.duplicate_of is null
     group by 1, 2),
  series as (
    select c.product, sum(c.n) filter (where c.week = 0)::integer as now, sum(c.n)::integer as total
      from counted as c group by c.product having sum(c.n) filter (where c.week = 0) >= 3),
  tested as materialized (select s.*, private.binomial_tail(s.now, s.total, 1.0 / 13) as chance from series as s),
  chosen as (select * from tested as t where t.chance < 0.01 order by t.chance, t.product limit 20)
  select coalesce(jsonb_agg(jsonb_build_object('product', s.name, 'now', t.now, 'before', round((t.total - t.now) / 12.0, 1),
           'weeks', array(select coalesce((select d.n from counted as d where d.product = t.product and d.week = w), 0)
                            from generate_series(12, 0, -1) as w),
           'chance', t.chance) order by t.chance, t.product), '[]')
    from chosen as t cross join lateral (
      select btrim(r.product_name) as name
        from public.reports as r
       where lower(btrim(r.product_name)) = t.product and r.created_at > now() - interval '91 days' and r.created_at <= now()
         and r.duplicate_of is null
       group by 1 order by count(*) desc, max(r.created_at) desc, 1 limit 1) as s
$$;
