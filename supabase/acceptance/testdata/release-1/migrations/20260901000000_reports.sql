-- Product reports: what visitors send and what reviewers add. Only service_role ever reads or writes them: a report can
-- put the person who sent it at risk, so no other API role has any grant at all.

-- Objects that no API may reach live here; PostgREST never exposes this schema.
create schema if not exists private;
comment on schema private is 'What the functions keep for themselves; never exposed by the REST API.';
revoke all on schema private from public;
grant usage on schema private to service_role;

create extension if not exists pgcrypto with schema extensions;

create function private.touch() returns trigger
language plpgsql set search_path = ''
as $$
begin
  new.updated_at := now();
  return new;
end $$;
comment on function private.touch() is 'Sets updated_at; for triggers before update.';
revoke all on function private.touch() from public;

create type public.report_status as enum ('new', 'reviewing', 'actioned', 'closed');
comment on type public.report_status is 'How far the review of a report has come.';

create type public.site_language as enum ('en', 'so');
comment on type public.site_language is 'Languages of the site.';

create type public.photo_metadata as enum ('pending', 'removed', 'kept');
comment on type public.photo_metadata is 'Whether a photo still tells where, when and with what it was taken.';

-- A reference is eight characters of Crockford's base 32, which has no I, L, O and U, so that it can be read aloud over a
-- bad line. 40 bits of chance; the unique constraint decides, and the function avoids the ones already given.
create function private.new_reference() returns text
language plpgsql volatile set search_path = ''
as $$
declare
  alphabet constant text := '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
  bytes bytea;
  letters text;
begin
  loop
    bytes := extensions.gen_random_bytes(8);
    select string_agg(substr(alphabet, get_byte(bytes, i) % 32 + 1, 1), '' order by i)
      into letters from generate_series(0, 7) as i;
    letters := 'DW-' || left(letters, 4) || '-' || right(letters, 4);
    exit when not exists (select from public.reports as r where r.reference = letters);
  end loop;
  return letters;
end $$;
comment on function private.new_reference() is 'A fresh reference for a report, such as DW-7K3M-9QXA.';
revoke all on function private.new_reference() from public;
grant execute on function private.new_reference() to service_role;

create table public.reports (
  id uuid primary key default gen_random_uuid(),
  reference text not null unique default private.new_reference(),
  status public.report_status not null default 'new',
  product_name text not null,
  batch_number text,
  expiry_date date,
  where_bought text,
  issue_description text not null,
  location text,
  region text,
  district text,
  photo_url text,
  photo_metadata public.photo_metadata,
  name text,
  phone text,
  phone_e164 text,
  language public.site_language not null default 'en',
  possible_duplicate_of uuid references public.reports (id) on delete set null,
  reviewer_notes text,
  idempotency_key text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),

  constraint reports_reference_form check (reference ~ '^DW-[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$'),
  constraint reports_product_name_given check (btrim(product_name) <> '' and char_length(product_name) <= 200),
  constraint reports_issue_description_given check (btrim(issue_description) <> '' and char_length(issue_description) <= 5000),
  constraint reports_name_length check (char_length(name) <= 200),
  constraint reports_phone_length check (char_length(phone) <= 50),
  constraint reports_phone_e164_form check (phone_e164 ~ '^\+[1-9][0-9]{4,14}$'),
  constraint reports_batch_number_length check (char_length(batch_number) <= 100),
  constraint reports_where_bought_length check (char_length(where_bought) <= 500),
  constraint reports_location_length check (char_length(location) <= 200),
  constraint reports_photo_url_length check (char_length(photo_url) <= 100),
  constraint reports_reviewer_notes_length check (char_length(reviewer_notes) <= 10000),
  constraint reports_not_its_own_duplicate check (possible_duplicate_of <> id)
);

comment on table public.reports is 'Reports of harmful or suspect products. Confidential: service_role only.';
comment on column public.reports.id is 'Identity of the report.';
comment on column public.reports.reference is 'Short name that the visitor is told and can read aloud, such as DW-7K3M-9QXA.';
comment on column public.reports.status is 'How far the review has come: new, reviewing, actioned or closed.';
comment on column public.reports.product_name is 'Name of the product as the visitor wrote it; required.';
comment on column public.reports.batch_number is 'Batch number printed on the pack, when known.';
comment on column public.reports.expiry_date is 'Expiry date printed on the pack, when known.';
comment on column public.reports.where_bought is 'Shop, market or person the product came from.';
comment on column public.reports.issue_description is 'What happened, in the visitor''s own words; required.';
comment on column public.reports.location is 'Place as sent: a region, ''region, district'', or free text.';
comment on column public.reports.region is 'Region recognised in location; empty when it is none of the 18.';
comment on column public.reports.district is 'District recognised in location; empty when none was.';
comment on column public.reports.photo_url is 'Name of the photo in the bucket report-photos.';
comment on column public.reports.photo_metadata is
  'What came of cleaning the photo: pending until it is done; kept when the file cannot be read, so that it may still tell where it was taken: pass it on with care.';
comment on column public.reports.name is 'Name of the visitor, when given.';
comment on column public.reports.phone is 'Phone number exactly as typed.';
comment on column public.reports.phone_e164 is 'The same number in international form, when it is a possible one.';
comment on column public.reports.language is 'Language the visitor used.';
comment on column public.reports.possible_duplicate_of is 'An earlier report of the same day that looks the same; the reviewer decides.';
comment on column public.reports.reviewer_notes is 'Notes of the reviewers; never shown to visitors.';
comment on column public.reports.idempotency_key is 'SHA-256 of the key the report was sent with, for 30 days; then empty.';
comment on column public.reports.created_at is 'When the report arrived.';
comment on column public.reports.updated_at is 'When the row last changed.';

create index reports_created_at on public.reports (created_at desc);
create index reports_open on public.reports (status, created_at desc) where status <> 'closed';
create index reports_product on public.reports (lower(btrim(product_name)), created_at desc);
create index reports_duplicate_of on public.reports (possible_duplicate_of) where possible_duplicate_of is not null;
-- A photo belongs to one report only.
create unique index reports_photo on public.reports (photo_url) where photo_url is not null;

create trigger reports_updated_at before update on public.reports
  for each row execute function private.touch();

alter table public.reports enable row level security;
revoke all on table public.reports from anon, authenticated;
grant select, insert, update, delete on table public.reports to service_role;

create function private.photo_cleaned(bucket text, photo text, removed boolean) returns void
language sql volatile
begin atomic
  update public.reports as r
     set photo_metadata = case when photo_cleaned.removed then 'removed' else 'kept' end::public.photo_metadata
   where r.photo_url = photo_cleaned.photo and photo_cleaned.bucket = 'report-photos';
end;
comment on function private.photo_cleaned(text, text, boolean) is
  'Tells the report what came of cleaning its photo; the background work calls it after each one.';
revoke all on function private.photo_cleaned(text, text, boolean) from public;
grant execute on function private.photo_cleaned(text, text, boolean) to service_role;

create view public.new_reports with (security_invoker = true) as
  select r.reference, r.created_at, r.product_name, r.batch_number, r.region, r.district, r.location, r.issue_description,
         r.photo_url is not null as has_photo, r.photo_metadata, d.reference as possible_duplicate_of, r.language, r.id
    from public.reports as r
    left join public.reports as d on d.id = r.possible_duplicate_of
   where r.status = 'new'
   order by r.created_at desc;
comment on view public.new_reports is 'Reports nobody has looked at yet, newest first.';
revoke all on table public.new_reports from anon, authenticated;
grant select on table public.new_reports to service_role;
