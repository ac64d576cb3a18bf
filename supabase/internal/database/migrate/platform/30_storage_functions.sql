-- Storage: the functions of the storage schema, except those that list (30_storage_listing.sql). Names, parameters,
-- results and volatility are storage-api's, because policies, clients and storage-api itself call them; the bodies are
-- ours.

set local role supabase_storage_admin;

-- Parts of an object's name, for use in policies: foldername('a/b/c.png') = {a,b}, filename = c.png, extension = png.
-- They are PL/pgSQL, and null for an empty name, as in storage-api.
create or replace function storage.foldername(name text) returns text[]
language plpgsql immutable as $$
declare
  parts text[] := string_to_array(name, '/');
begin
  return parts[1 : array_length(parts, 1) - 1];
end $$;

create or replace function storage.filename(name text) returns text
language plpgsql immutable as $$
declare
  parts text[] := string_to_array(name, '/');
begin
  return parts[array_length(parts, 1)];
end $$;

create or replace function storage.extension(name text) returns text
language plpgsql immutable as $$
begin
  return split_part(storage.filename(name), '.', -1);
end $$;

-- The API operation of this transaction, such as storage.object.upload. Null or empty outside the API.
create or replace function storage.operation() returns text
language plpgsql stable as $$
begin
  return current_setting('storage.operation', true);
end $$;

create or replace function storage.allow_only_operation(expected_operation text) returns boolean
language sql stable as $$
  select coalesce(
    nullif(regexp_replace(expected_operation, '^storage\.', ''), '') = regexp_replace(storage.operation(), '^storage\.', ''),
    false)
$$;

create or replace function storage.allow_any_operation(expected_operations text[]) returns boolean
language sql stable as $$
  select coalesce(bool_or(storage.allow_only_operation(expected)), false) from unnest(expected_operations) as expected
$$;

create or replace function storage.get_size_by_bucket() returns table (size bigint, bucket_id text)
language plpgsql stable as $$
begin
  return query
    select sum((o.metadata ->> 'size')::bigint)::bigint, o.bucket_id from storage.objects o group by o.bucket_id;
end $$;

-- Tests whether the caller may insert the object and always rolls back. Success is the error PT200.
create or replace function storage.can_insert_object(bucketid text, name text, owner uuid, metadata jsonb) returns void
language plpgsql as $$
begin
  insert into storage.objects (bucket_id, name, owner, metadata)
  values (can_insert_object.bucketid, can_insert_object.name, can_insert_object.owner, can_insert_object.metadata);
  raise sqlstate 'PT200' using message = 'ROLLBACK', detail = 'rollback successful insert';
end $$;

create or replace function storage.update_updated_at_column() returns trigger
language plpgsql as $$
begin
  new.updated_at := now();
  return new;
end $$;

create or replace function storage.enforce_bucket_name_length() returns trigger
language plpgsql as $$
begin
  if length(new.name) > 100 then
    raise exception 'bucket name "%" is too long (% characters). Max is 100.', new.name, length(new.name);
  end if;
  return new;
end $$;

-- A row deleted with plain SQL would leave its file behind, so only a transaction of the API may delete.
create or replace function storage.protect_delete() returns trigger
language plpgsql as $$
begin
  if coalesce(current_setting('storage.allow_delete_query', true), '') <> 'true' then
    raise exception 'Direct deletion from storage tables is not allowed. Use the Storage API instead.'
      using hint = 'This prevents accidental data loss from orphaned objects.', errcode = '42501';
  end if;
  return null;
end $$;

-- Only storage-api changes the lifecycle of a bucket, and each change has a new generation. The role of storage-api is the
-- argument of the triggers.
create or replace function storage.protect_bucket_control_columns() returns trigger
language plpgsql set search_path = pg_catalog as $$
declare
  given constant integer := num_nonnulls(new.lifecycle_configuration, new.lifecycle_configuration_generation);
begin
  if tg_op = 'INSERT' then
    if given > 0 and not pg_has_role(current_user, tg_argv[0], 'member') then
      raise exception 'only % may insert a bucket with a lifecycle configuration', tg_argv[0]
        using errcode = 'insufficient_privilege', hint = 'Insert the bucket without it, and set it with the Storage API.';
    end if;
  elsif row (new.lifecycle_configuration, new.lifecycle_configuration_generation)
        is distinct from row (old.lifecycle_configuration, old.lifecycle_configuration_generation) then
    if new.type <> 'STANDARD' then
      raise exception 'only a standard bucket has a lifecycle configuration' using errcode = 'feature_not_supported';
    end if;
    if given = 1 or given = 2 and (
      new.lifecycle_configuration is not distinct from old.lifecycle_configuration
      or new.lifecycle_configuration_generation is not distinct from old.lifecycle_configuration_generation
    ) then
      raise exception 'a changed lifecycle configuration needs a new generation' using errcode = 'invalid_parameter_value';
    end if;
  end if;
  return new;
end $$;

-- Runs after the policies: storage-api takes its error as the proof that they permit the caller to change the bucket.
create or replace function storage.enforce_bucket_lifecycle_service_role() returns trigger
language plpgsql set search_path = pg_catalog as $$
begin
  if current_user <> tg_argv[0] and row (new.lifecycle_configuration, new.lifecycle_configuration_generation)
     is distinct from row (old.lifecycle_configuration, old.lifecycle_configuration_generation) then
    raise exception 'only % may change the lifecycle configuration of a bucket', tg_argv[0]
      using errcode = 'PST01', schema = tg_table_schema, table = tg_table_name, constraint = tg_name;
  end if;
  return null;
end $$;

create or replace trigger protect_bucket_control_insert before insert on storage.buckets
  for each row execute function storage.protect_bucket_control_columns('service_role');
create or replace trigger protect_bucket_control_update
  before update of lifecycle_configuration, lifecycle_configuration_generation on storage.buckets
  for each row execute function storage.protect_bucket_control_columns();
create or replace trigger protect_bucket_control_update_role
  after update of lifecycle_configuration, lifecycle_configuration_generation on storage.buckets
  for each row execute function storage.enforce_bucket_lifecycle_service_role('service_role');
create or replace trigger update_objects_updated_at before update on storage.objects
  for each row execute function storage.update_updated_at_column();
create or replace trigger enforce_bucket_name_length_trigger before insert or update of name on storage.buckets
  for each row execute function storage.enforce_bucket_name_length();
create or replace trigger protect_buckets_delete before delete on storage.buckets
  for each statement execute function storage.protect_delete();
create or replace trigger protect_objects_delete before delete on storage.objects
  for each statement execute function storage.protect_delete();

reset role;
