-- Times the count of a word that every report has, with 20,000 reports and as a reviewer, seven times. Nothing is kept.
-- psql "$DB_URL" -f scripts/bench/desk-count.sql
\set ON_ERROR_STOP on
\pset pager off
begin;
insert into public.reports (product_name, issue_description, where_bought, name, phone, region, created_at)
select 'Product ' || n % 300, repeat('The skin became red and it burned for days. ', 6) || n, 'A shop beside the market ' || n % 40,
       'Name ' || n, '061' || (1000000 + n), (array['Bari', 'Bay', 'Banaadir', null])[1 + n % 4], now() - n * interval '10 minutes'
  from generate_series(1, 20000) as n;
analyze public.reports;
set local role supabase_auth_admin;
insert into auth.users (instance_id, id, aud, role, email, raw_app_meta_data, created_at)
values ('00000000-0000-0000-0000-000000000000', '00000000-0000-4000-8000-0000000000ff', 'authenticated', 'authenticated',
        'desk-count@example.org', '{"staff_role": "reviewer"}', now());
insert into auth.sessions (id, user_id, created_at, aal)
values ('10000000-0000-4000-8000-0000000000ff', '00000000-0000-4000-8000-0000000000ff', now(), 'aal2');
set local role authenticated;
set local request.jwt.claims = '{"role":"authenticated","aal":"aal2","sub":"00000000-0000-4000-8000-0000000000ff","session_id":"10000000-0000-4000-8000-0000000000ff"}';
\timing on
select public.count_reports('{"search": "burned"}');
select public.count_reports('{"search": "burned"}');
select public.count_reports('{"search": "burned"}');
select public.count_reports('{"search": "burned"}');
select public.count_reports('{"search": "burned"}');
select public.count_reports('{"search": "burned"}');
select public.count_reports('{"search": "burned"}');
rollback;
