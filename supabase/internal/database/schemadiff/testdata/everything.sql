create extension if not exists hstore with schema extensions;
create schema shop;
create type shop.state as enum ('new', 'paid');
create type shop.address as (street text, city text);
create domain shop.money as numeric(10, 2) not null default 0 constraint not_negative check (value >= 0);
create type shop.span as range (subtype = timestamptz);
create type shop.weight as range (subtype = float8, subtype_diff = float8mi, multirange_type_name = shop.weights);
create type shop.pattern as range (subtype = text, subtype_opclass = text_pattern_ops, collation = "C");
create sequence shop.numbers start with 100 increment by 5 cycle maxvalue 1000;

create function shop.next_code() returns text language sql as $$ select 'c' || nextval('shop.numbers') $$;

create table shop.customers (
  id bigint generated always as identity primary key,
  code text not null default shop.next_code() unique,
  name text not null collate "C",
  nickname text,
  email text,
  born date,
  home shop.address,
  tags text[] not null default '{}',
  lower_name text generated always as (lower(name)) stored
);
create table shop.orders (
  number serial primary key,
  customer bigint not null references shop.customers on delete cascade,
  state shop.state not null default 'new',
  price shop.money,
  during shop.span,
  properties extensions.hstore,
  parent int references shop.orders,
  constraint price_positive check (price >= 0),
  constraint no_overlap exclude using gist (during with &&)
);
create index orders_customer_idx on shop.orders (customer) where state = 'new';
create table shop.events (day date not null, what text) partition by range (day);
create table shop.events_2026 partition of shop.events for values from ('2026-01-01') to ('2027-01-01');
create table shop.base (id int, note text, day date);
create table shop.heir (vat text) inherits (shop.base);
create type shop.line as (n int, word text collate "C");
create domain shop.word as text collate "C" check (value <> '');
create unlogged table shop.cache (key text primary key, value jsonb);

create view shop.totals with (security_invoker = true) as select customer, sum(price) as total from shop.orders group by customer;
create view shop.named as select c.id, c.name, t.total from shop.customers c join shop.totals t on t.customer = c.id group by c.id, t.total;
create materialized view shop.cities as select distinct (home).city from shop.customers;
create unique index on shop.cities (city);

create function shop.total(shop.orders) returns numeric language sql stable as 'select $1.price';
create function shop.list(wanted shop.state default 'new') returns setof shop.totals language plpgsql as $$
begin
  return query select * from shop.totals;
end
$$;
create procedure shop.tidy() language sql as 'delete from shop.cache';
create function shop.touch() returns trigger language plpgsql as $$ begin return new; end $$;
create trigger touched before update on shop.orders for each row when (old.state is distinct from new.state) execute function shop.touch();
create trigger on_sign_up after insert on auth.users for each row execute function shop.touch();
create rule no_delete as on delete to shop.cache do instead nothing;

alter table shop.customers enable row level security;
alter table shop.orders enable row level security;
alter table shop.orders force row level security;
create policy "own orders" on shop.orders as restrictive for update to authenticated, anon using (customer > 0) with check (state = 'new');
create policy "everyone reads" on shop.customers for select using (true);
create policy "images" on storage.objects for select to anon using (bucket_id = 'images');

comment on table shop.orders is 'It''s a table';
comment on column shop.orders.price is 'in euros';
comment on procedure shop.tidy is 'cleans'; 
comment on policy "own orders" on shop.orders is 'mine';

grant usage on schema shop to anon, authenticated;
grant select on shop.customers to anon;
grant select, insert on shop.orders to authenticated with grant option;
revoke execute on function shop.touch() from public;
grant update (born) on shop.customers to anon;
grant usage on sequence shop.numbers to service_role;
create table public.plain (id uuid primary key default gen_random_uuid(), at timestamptz default now());
create table public.hidden (id int);
revoke all on public.hidden from anon, authenticated;

create statistics shop.kept (ndistinct) on what, day from shop.events;
create publication orders for table shop.orders, shop.base with (publish = 'insert');
alter publication supabase_realtime add table shop.customers;

insert into shop.customers (name, nickname, home, tags) values ('O''Neil', null, row('Main St', 'Galway'), '{a,"b c"}'), (E'line\nbreak\\', 'x', null, '{}');
insert into shop.orders (customer, price, during, properties) values (1, 3.50, '[2026-01-01,2026-01-02)', 'a=>1');
insert into shop.events values ('2026-05-01', 'opened');
insert into public.plain default values;

create collation shop.any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
create collation shop.plain from "C";
create table shop.tags (name text collate shop.any_case primary key) with (fillfactor = 70, autovacuum_enabled = false);
create text search dictionary shop.stems (template = snowball, language = 'english', stopwords = 'english');
create text search configuration shop.words (copy = simple);
alter text search configuration shop.words alter mapping for asciiword, word with shop.stems, simple;
create table shop.pages (body text, found tsvector generated always as (to_tsvector('shop.words', body)) stored);
create function shop.larger(a bigint, b int) returns bigint language sql immutable as 'select greatest(a, b)';
create aggregate shop.largest(int) (sfunc = shop.larger, stype = bigint, initcond = '0', parallel = safe);
create aggregate shop.every_row(*) (sfunc = int8inc, stype = int8, initcond = '0', combinefunc = int8pl);
create function shop.at(list text[], place int) returns text language sql immutable as 'select list[place]';
create aggregate shop.nth(int order by text) (sfunc = array_append, stype = text[], finalfunc = shop.at);
comment on aggregate shop.nth(int order by text) is 'in the order of ORDER BY';
revoke all on function shop.nth(int, text), shop.every_row() from public;
create view shop.sizes as select shop.largest(length(body)) as most from shop.pages;
comment on aggregate shop.every_row(*) is 'counts';
revoke all on function shop.largest(int) from public;
