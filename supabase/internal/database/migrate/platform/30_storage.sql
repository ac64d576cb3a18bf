-- Storage: the tables of storage-api v1.74.0 after its last migration, with the same columns, owner, grants, indexes,
-- constraints and triggers, so that either server can serve the database. Functions are in 30_storage_functions.sql and
-- 30_storage_listing.sql, and the ledger that storage-api reads in 30_storage_ledger.sql.

-- 01_schemas.sql creates the schema. A storage service that runs alone may have to create it here.
do $$
begin
  if to_regnamespace('storage') is null then
    create schema storage;
    grant all on schema storage to supabase_storage_admin;
    grant usage on schema storage to postgres, anon, authenticated, service_role;
  end if;
end $$;

alter default privileges for role supabase_storage_admin in schema storage
  grant all on tables to postgres, anon, authenticated, service_role;
alter default privileges for role supabase_storage_admin in schema storage
  grant all on functions to postgres, anon, authenticated, service_role;
alter default privileges for role supabase_storage_admin in schema storage
  grant all on sequences to postgres, anon, authenticated, service_role;

set local role supabase_storage_admin;

do $$
begin
  if to_regtype('storage.buckettype') is null then
    create type storage.buckettype as enum ('STANDARD', 'ANALYTICS', 'VECTOR');
  end if;
end $$;

create table if not exists storage.migrations (
  id          integer primary key,
  name        varchar(100) not null unique,
  hash        varchar(40) not null,
  executed_at timestamp default current_timestamp
);

create table if not exists storage.buckets (
  id                 text not null primary key,
  name               text not null,
  owner              uuid,
  created_at         timestamptz default now(),
  updated_at         timestamptz default now(),
  public             boolean default false,
  avif_autodetection boolean default false,
  file_size_limit    bigint,
  allowed_mime_types text[],
  owner_id           text,
  type               storage.buckettype not null default 'STANDARD',
  versioning_status  text not null default 'DISABLED',
  lifecycle_configuration            jsonb,
  lifecycle_configuration_generation uuid,
  constraint buckets_versioning_status_check
    check (versioning_status in ('DISABLED', 'ENABLED', 'SUSPENDED')),
  constraint buckets_versioning_standard_only_check
    check (type = 'STANDARD' or versioning_status = 'DISABLED'),
  constraint buckets_versioning_dark_check
    check (versioning_status = 'DISABLED')
);
-- The rules by which storage-api deletes objects, and a mark that each change of them renews.
alter table storage.buckets
  add column if not exists lifecycle_configuration jsonb, add column if not exists lifecycle_configuration_generation uuid;
do $$
declare
  wanted record;
begin
  for wanted in
    select * from (values
      ('pair', 'num_nonnulls(lifecycle_configuration, lifecycle_configuration_generation) in (0, 2)'),
      ('shape', $check$ lifecycle_configuration is null or case jsonb_typeof(lifecycle_configuration -> 'rules')
                  when 'array' then jsonb_array_length(lifecycle_configuration -> 'rules') between 1 and 1000 else false end $check$),
      ('standard_only', $check$ type = 'STANDARD' or num_nulls(lifecycle_configuration, lifecycle_configuration_generation) = 2 $check$)
    ) as checks (name, condition)
    where not exists (
      select from pg_constraint
      where conrelid = 'storage.buckets'::regclass and conname = format('buckets_lifecycle_configuration_%s_check', name)
    )
  loop
    execute format('alter table storage.buckets add constraint %I check (%s)',
      format('buckets_lifecycle_configuration_%s_check', wanted.name), wanted.condition);
  end loop;
end
$$;
create unique index if not exists bname on storage.buckets (name);
comment on column storage.buckets.owner is 'Field is deprecated, use owner_id instead';

create table if not exists storage.objects (
  id               uuid not null default gen_random_uuid() primary key,
  bucket_id        text,
  name             text,
  owner            uuid,
  created_at       timestamptz default now(),
  updated_at       timestamptz default now(),
  last_accessed_at timestamptz default now(),
  metadata         jsonb,
  path_tokens      text[] generated always as (string_to_array(name, '/')) stored,
  version          text,
  owner_id         text,
  user_metadata    jsonb,
  archived_at      timestamptz,
  is_delete_marker boolean not null default false,
  is_versioned     boolean not null default false,
  constraint "objects_bucketId_fkey" foreign key (bucket_id) references storage.buckets (id)
);
create unique index if not exists bucketid_objname on storage.objects (bucket_id, name);
create index if not exists name_prefix_search on storage.objects (name text_pattern_ops);
create index if not exists idx_objects_bucket_id_name on storage.objects (bucket_id, name collate "C");
create index if not exists idx_objects_bucket_id_name_lower on storage.objects (bucket_id, lower(name) collate "C");
create unique index if not exists objects_bucket_id_name_version_key
  on storage.objects (bucket_id, name collate "C", version) nulls not distinct;
create unique index if not exists idx_objects_current_version
  on storage.objects (bucket_id, name collate "C") where archived_at is null;
create unique index if not exists idx_objects_null_version
  on storage.objects (bucket_id, name collate "C") where not is_versioned;
comment on column storage.objects.owner is 'Field is deprecated, use owner_id instead';

create table if not exists storage.s3_multipart_uploads (
  id               text primary key,
  in_progress_size bigint not null default 0,
  upload_signature text not null,
  bucket_id        text not null references storage.buckets (id),
  key              text collate "C" not null,
  version          text not null,
  owner_id         text,
  created_at       timestamptz not null default now(),
  user_metadata    jsonb,
  metadata         jsonb
);
create index if not exists idx_multipart_uploads_list
  on storage.s3_multipart_uploads (bucket_id, key collate "C", created_at);

create table if not exists storage.s3_multipart_uploads_parts (
  id          uuid primary key default gen_random_uuid(),
  upload_id   text not null references storage.s3_multipart_uploads (id) on delete cascade,
  size        bigint not null default 0,
  part_number integer not null,
  bucket_id   text not null references storage.buckets (id),
  key         text collate "C" not null,
  etag        text not null,
  owner_id    text,
  version     text not null,
  created_at  timestamptz not null default now()
);

create table if not exists storage.buckets_analytics (
  name       text not null,
  type       storage.buckettype not null default 'ANALYTICS',
  format     text not null default 'ICEBERG',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  id         uuid not null default gen_random_uuid() primary key,
  deleted_at timestamptz
);
create unique index if not exists buckets_analytics_unique_name_idx
  on storage.buckets_analytics (name) where deleted_at is null;

create table if not exists storage.iceberg_namespaces (
  id          uuid primary key default gen_random_uuid(),
  bucket_name text not null,
  name        text collate "C" not null,
  created_at  timestamptz not null default now(),
  updated_at  timestamptz not null default now(),
  metadata    jsonb not null default '{}',
  catalog_id  uuid not null references storage.buckets_analytics (id) on delete cascade
);
create unique index if not exists idx_iceberg_namespaces_bucket_id on storage.iceberg_namespaces (catalog_id, name);

create table if not exists storage.iceberg_tables (
  id              uuid primary key default gen_random_uuid(),
  namespace_id    uuid not null references storage.iceberg_namespaces (id) on delete cascade,
  bucket_name     text not null,
  name            text collate "C" not null,
  location        text not null,
  created_at      timestamptz not null default now(),
  updated_at      timestamptz not null default now(),
  remote_table_id text,
  shard_key       text,
  shard_id        text,
  catalog_id      uuid not null references storage.buckets_analytics (id) on delete cascade
);
create unique index if not exists idx_iceberg_tables_namespace_id
  on storage.iceberg_tables (catalog_id, namespace_id, name);
create unique index if not exists idx_iceberg_tables_location on storage.iceberg_tables (location);

create table if not exists storage.buckets_vectors (
  id         text not null primary key,
  type       storage.buckettype not null default 'VECTOR',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create table if not exists storage.vector_indexes (
  id                     text primary key default gen_random_uuid(),
  name                   text collate "C" not null,
  bucket_id              text not null references storage.buckets_vectors (id),
  data_type              text not null,
  dimension              integer not null,
  distance_metric        text not null,
  metadata_configuration jsonb,
  created_at             timestamptz not null default now(),
  updated_at             timestamptz not null default now()
);
create unique index if not exists vector_indexes_name_bucket_id_idx on storage.vector_indexes (name, bucket_id);

alter table storage.migrations enable row level security;
alter table storage.buckets enable row level security;
alter table storage.objects enable row level security;
alter table storage.s3_multipart_uploads enable row level security;
alter table storage.s3_multipart_uploads_parts enable row level security;
alter table storage.buckets_analytics enable row level security;
alter table storage.iceberg_namespaces enable row level security;
alter table storage.iceberg_tables enable row level security;
alter table storage.buckets_vectors enable row level security;
alter table storage.vector_indexes enable row level security;

grant all on storage.buckets, storage.objects to postgres with grant option;
grant all on storage.buckets, storage.objects, storage.buckets_analytics to anon, authenticated, service_role;

-- API roles may read multipart uploads and catalogs, and change them only through the API.
revoke all on storage.s3_multipart_uploads, storage.s3_multipart_uploads_parts, storage.iceberg_namespaces,
  storage.iceberg_tables from anon, authenticated;
grant select on storage.s3_multipart_uploads, storage.s3_multipart_uploads_parts, storage.iceberg_namespaces,
  storage.iceberg_tables to anon, authenticated;
grant all on storage.s3_multipart_uploads, storage.s3_multipart_uploads_parts, storage.iceberg_namespaces,
  storage.iceberg_tables to service_role;

reset role;
