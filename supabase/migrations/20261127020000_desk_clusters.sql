-- Reports that belong together: of one batch, one shop, one product in one place, or with similar words; and products that are
-- reported more often than before. docs/cases.md says how they are found and what they cannot tell.

create function private.plain(words text) returns text
language sql immutable parallel safe set search_path = ''
as $$ select nullif(regexp_replace(lower(words), '[^[:alnum:]]+', '', 'g'), '') $$;
comment on function private.plain(text) is 'Letters and digits alone, in small letters, for comparing what visitors typed.';
create function private.batch_key(batch text) returns text
language sql immutable parallel safe set search_path = ''
as $$ select case when private.plain(batch) ~ '[0-9]' and char_length(private.plain(batch)) >= 3 then private.plain(batch) end $$;
comment on function private.batch_key(text) is 'A batch number without punctuation; none for a text without a digit, such as "unknown".';
create function private.shop_key(shop text) returns text
language sql immutable parallel safe set search_path = ''
as $$ select case when char_length(private.plain(shop)) >= 4 then private.plain(shop) end $$;
comment on function private.shop_key(text) is 'The name of a shop without punctuation.';
revoke all on function private.plain(text), private.batch_key(text), private.shop_key(text) from public;
grant execute on function private.plain(text), private.batch_key(text), private.shop_key(text) to service_role; -- which adds reports

-- Stored, because to compute them for each row takes a hundred times as long as to read them.
alter table public.reports
  add column batch_key text generated always as (private.batch_key(batch_number)) stored,
  add column shop_key text generated always as (private.shop_key(where_bought)) stored;
comment on column public.reports.batch_key is 'Batch number without punctuation, for finding clusters.';
comment on column public.reports.shop_key is 'Shop without punctuation, for finding clusters.';
create index reports_batch on public.reports (batch_key) where batch_key is not null;
create index reports_shop on public.reports (shop_key, created_at desc) where shop_key is not null;

create table private.linked_reports (
  report_id uuid primary key references public.reports (id) on delete cascade,
  group_id uuid not null
);
comment on table private.linked_reports is 'Reports that reviewers have linked: those of one group belong together.';
comment on column private.linked_reports.report_id is 'The report.';
comment on column private.linked_reports.group_id is 'Its group.';
create index linked_reports_group on private.linked_reports (group_id);
alter table private.linked_reports enable row level security;
revoke all on table private.linked_reports from public, anon, authenticated, service_role;

alter table public.staff_trail drop constraint staff_trail_action_known, drop constraint staff_trail_subject_known,
  add constraint staff_trail_action_known check (action in
    ('read', 'search', 'change', 'add', 'note', 'contact', 'link', 'forward', 'export', 'delete', 'retry', 'invite', 'role', 'remove', 'run')),
  add constraint staff_trail_subject_known check (subject in ('report', 'clusters', 'resource', 'staff', 'job', 'system'));

create function public.link_reports(report uuid, others uuid[], linked boolean default true) returns void
language plpgsql volatile security definer set search_path = ''
as $$
declare
  members constant uuid[] := array(select distinct x from unnest(others || report) as x);
  chosen uuid;
begin
  perform private.require_reviewer();
  if cardinality(members) > 50 then
    raise exception 'at most 50 reports can be linked at once' using errcode = '54000';
  end if;
  perform pg_advisory_xact_lock(hashtext('linked_reports'));
  if (select count(*) from public.reports as r where r.id = any (members)) <> cardinality(members) then
    raise exception 'no report has this id' using errcode = 'PT404';
  end if;
  if linked then
    select coalesce(min(l.group_id::text)::uuid, gen_random_uuid()) into chosen
      from private.linked_reports as l where l.report_id = any (members);
    update private.linked_reports as l set group_id = chosen
     where l.group_id in (select m.group_id from private.linked_reports as m where m.report_id = any (members));
    insert into private.linked_reports (report_id, group_id) select m, chosen from unnest(members) as m on conflict do nothing;
  else
    delete from private.linked_reports as l where l.report_id = link_reports.report returning l.group_id into chosen;
    delete from private.linked_reports as l where l.group_id = chosen
       and (select count(*) from private.linked_reports as m where m.group_id = chosen) = 1;
  end if;
  -- The time of a changed report tells open desks to read it again.
  update public.reports as r set updated_at = now() where r.id = any (members);
  perform private.write_trail('link', 'report', r.id::text, r.reference, jsonb_build_object('linked', linked))
     from public.reports as r where r.id = any (case when linked then members else array[report] end) order by r.reference;
end $$;
comment on function public.link_reports(uuid, uuid[], boolean) is
  'Links reports that belong together, or takes a report out of its group. Deletes nothing. Writes to the trail. Reviewers only.';

-- read_report shows the copy that was found at arrival; what is similar comes from related_reports.
create or replace function private.report_parts(report public.reports) returns jsonb
language sql stable set search_path = ''
as $$
  select jsonb_build_object(
    'duplicate_of', (select r.reference from public.reports as r where r.id = report.duplicate_of),
    'duplicate_id', report.duplicate_of,
    'possible_duplicate', (select r.reference from public.reports as r where r.id = report.possible_duplicate_of),
    'notes', (select coalesce(jsonb_agg(jsonb_build_object('id', n.id, 'author', n.author, 'author_name', n.author_name, 'body', n.body,
                'created_at', n.created_at) order by n.id), '[]') from public.report_notes as n where n.report_id = report.id),
    'contacts', (select coalesce(jsonb_agg(to_jsonb(c) - 'report_id' order by c.id), '[]')
                   from public.report_contacts as c where c.report_id = report.id))
$$;
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
  perform private.trail_read(report);
  return to_jsonb(report) - '{idempotency_key,search_text,batch_key,shop_key}'::text[] || private.report_parts(report);
end $$;
comment on function public.read_report(text) is
  'A whole report with its notes and contacts. Writes to the trail who read it. Reviewers only.';

-- To compare words is slow (about 50 microseconds for two texts), so they are compared with the nearest reports of 60 days alone.
create function public.related_reports(report uuid) returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  this public.reports;
begin
  perform private.require_reviewer();
  select r.* into this from public.reports as r where r.id = related_reports.report;
  if not found then
    raise exception 'no report has this id' using errcode = 'PT404';
  end if;
  perform private.trail_read(this);
  return (
    with near as materialized (
      (select r.id, r.issue_description from public.reports as r
        where r.created_at between this.created_at - interval '60 days' and this.created_at and r.id <> this.id
        order by r.created_at desc limit 500)
      union all
      (select r.id, r.issue_description from public.reports as r
        where r.created_at > this.created_at and r.created_at <= this.created_at + interval '60 days'
        order by r.created_at limit 500)),
    found (id, reason) as (
      select l.report_id, 'linked' from private.linked_reports as l
       where l.group_id = (select m.group_id from private.linked_reports as m where m.report_id = this.id)
      union all
      select r.id, 'copy' from public.reports as r
       where r.id in (this.possible_duplicate_of, this.duplicate_of) or r.possible_duplicate_of = this.id or r.duplicate_of = this.id
      union all
      select r.id, 'batch' from public.reports as r
       where r.batch_key = this.batch_key
      union all
      select r.id, 'shop' from public.reports as r
       where r.shop_key = this.shop_key
         and r.created_at between this.created_at - interval '90 days' and this.created_at + interval '90 days'
      union all
      select r.id, 'product' from public.reports as r
       where lower(btrim(r.product_name)) = lower(btrim(this.product_name))
         and r.created_at between this.created_at - interval '42 days' and this.created_at + interval '42 days'
      union all
      select n.id, 'words' from near as n
       where char_length(this.issue_description) >= 12
         and extensions.similarity(n.issue_description, this.issue_description) >= 0.4),
    reasons as (select f.id, array_agg(distinct f.reason) as names from found as f where f.id <> this.id group by f.id),
    best as (
      select r.id, r.reference, r.status, r.product_name, r.region, r.district, r.created_at, x.names as reasons,
             l.likely, row_number() over (order by l.likely desc, 'linked' = any (x.names) desc, 'batch' = any (x.names) desc,
               cardinality(x.names) desc, r.created_at desc, r.id) as place
        from reasons as x join public.reports as r on r.id = x.id
             cross join lateral (select r.id is not distinct from this.possible_duplicate_of
                                     or r.possible_duplicate_of is not distinct from this.id) as l (likely)
       order by place limit 12)
    select jsonb_build_object('total', (select count(*) from reasons),
      'reports', (select coalesce(jsonb_agg(to_jsonb(b) - 'place' order by b.place), '[]') from best as b)));
end $$;
comment on function public.related_reports(uuid) is
  'Reports that are linked with a report, or are of its batch, shop or product, or have similar words, each with the reasons. Writes to the trail. Reviewers only.';

create function private.binomial_tail(x integer, n integer, share double precision) returns double precision
language plpgsql immutable set search_path = ''
as $$
declare
  term double precision := n * ln(1 - share); -- the logarithm of the probability of k, from k = 0
  total double precision := 0;
begin
  for k in 0 .. n loop
    if k >= x then
      total := total + exp(greatest(term, -700));
    end if;
    exit when k >= x and k > n * share and term < -40;
    if k < n then
      term := term + ln((n - k)::double precision / (k + 1)) + ln(share / (1 - share));
    end if;
  end loop;
  return least(total, 1);
end $$;
comment on function private.binomial_tail(integer, integer, double precision) is
  'Probability of at least x successes in n trials.';

create function private.rising_products() returns jsonb
language sql stable set search_path = ''
as $$
  with counted as materialized (
    select lower(btrim(r.product_name)) as product, min(btrim(r.product_name)) as name,
           floor(extract(epoch from now() - r.created_at) / 604800)::integer as week, count(*)::integer as n
      from public.reports as r
     where r.created_at > now() - interval '91 days' and r.created_at <= now() and r.duplicate_of is null
     group by 1, 3),
  series as (
    select c.product, min(c.name) as name, sum(c.n) filter (where c.week = 0)::integer as now, sum(c.n)::integer as total
      from counted as c group by c.product having sum(c.n) filter (where c.week = 0) >= 3),
  tested as materialized (select s.*, private.binomial_tail(s.now, s.total, 1.0 / 13) as chance from series as s),
  chosen as (select * from tested as t where t.chance < 0.01 order by t.chance, t.name limit 20)
  select coalesce(jsonb_agg(jsonb_build_object('product', t.name, 'now', t.now, 'before', round((t.total - t.now) / 12.0, 1),
           'weeks', array(select coalesce((select d.n from counted as d where d.product = t.product and d.week = w), 0)
                            from generate_series(12, 0, -1) as w),
           'chance', t.chance) order by t.chance, t.name), '[]')
    from chosen as t
$$;
comment on function private.rising_products() is
  'Products whose reports of seven days are more than their twelve weeks before explain: a test of two Poisson rates, at least three reports, chance below 1 %.';

create function private.report_groups(since timestamptz) returns jsonb
language sql stable set search_path = ''
as $$
  with keyed as materialized (
    select k.kind, k.key, r.id, r.status, r.created_at
      from public.reports as r cross join lateral (values
             ('batch', r.batch_key), ('shop', r.shop_key || ' ' || coalesce(r.region, '')),
             ('place', case when r.created_at > now() - interval '42 days' then lower(btrim(r.product_name)) || ' ' || r.region end)) as k (kind, key)
     where r.created_at >= since and r.duplicate_of is null and k.key is not null),
  groups as (
    select k.kind, k.key, count(*)::integer as n, count(*) filter (where k.status in ('new', 'reviewing'))::integer as open,
           max(k.created_at) as last, min(k.created_at) as first
      from keyed as k group by k.kind, k.key having count(*) >= case when k.kind = 'batch' then 2 else 3 end),
  ranked as (select g.*, row_number() over (partition by g.kind order by g.open > 0 desc, g.n desc, g.last desc, g.key) as place from groups as g),
  shown as (
    select g.kind, g.place, g.n, g.open, g.first, g.last,
           mode() within group (order by btrim(case g.kind when 'batch' then r.batch_number when 'shop' then r.where_bought else r.product_name end)) as label,
           mode() within group (order by btrim(r.product_name)) as product,
           array_agg(distinct r.region) filter (where r.region is not null) as regions,
           (array_agg(jsonb_build_object('id', r.id, 'reference', r.reference, 'status', r.status, 'created_at', r.created_at)
             order by r.created_at desc, r.id))[1:8] as reports
      from ranked as g join keyed as k on k.kind = g.kind and k.key = g.key join public.reports as r on r.id = k.id
     where g.place <= 10
     group by g.kind, g.key, g.place, g.n, g.open, g.first, g.last)
  select coalesce(jsonb_agg(to_jsonb(s) - 'place' order by s.kind, s.place), '[]') from shown as s
$$;
comment on function private.report_groups(timestamptz) is 'The largest groups of reports of one batch, one shop, or one product in one region.';
revoke all on function private.binomial_tail(integer, integer, double precision), private.rising_products(), private.report_groups(timestamptz)
  from public;

create function public.report_clusters(since timestamptz default now() - interval '90 days') returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
begin
  perform private.require_reviewer();
  if not exists (select from public.staff_trail as t where t.actor = auth.uid() and t.action = 'read' and t.subject = 'clusters'
                    and t.at > now() - interval '10 minutes') then
    perform private.write_trail('read', 'clusters', null, null);
  end if;
  return jsonb_build_object('rising', private.rising_products(), 'groups', private.report_groups(report_clusters.since),
    'all', (select jsonb_build_object('now', count(*) filter (where r.created_at > now() - interval '7 days'),
                                      'before', round(count(*) filter (where r.created_at <= now() - interval '7 days') / 12.0, 1))
              from public.reports as r where r.created_at > now() - interval '91 days' and r.duplicate_of is null));
end $$;
comment on function public.report_clusters(timestamptz) is
  'Rising products, and groups of reports of one batch, shop or product and region, without copies. Writes to the trail. Reviewers only.';
create index staff_trail_clusters on public.staff_trail (actor, at desc) where subject = 'clusters';

revoke all on function public.link_reports(uuid, uuid[], boolean), public.related_reports(uuid), public.report_clusters(timestamptz)
  from public, anon, authenticated, service_role;
grant execute on function public.link_reports(uuid, uuid[], boolean), public.related_reports(uuid), public.report_clusters(timestamptz)
  to authenticated;

create or replace function public.export_reports(since timestamptz default '-infinity', until timestamptz default 'infinity', after uuid default null, most integer default 1000)
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
    select to_jsonb(r) - '{idempotency_key,search_text,batch_key,shop_key,photo_url}'::text[] from public.reports as r
     where r.created_at >= export_reports.since and r.created_at < export_reports.until
       and (export_reports.after is null or r.id > export_reports.after)
     order by r.id limit least(greatest(export_reports.most, 1), 1000);
end $$;
