-- Counters of auth's rate limits, shared by all servers. The table is not GoTrue's, so it is not in schema auth. It is
-- unlogged: a crash resets the limits. The keys are hashes, so no address is stored.
--
-- The schema belongs to supabase_admin where it can: other tools that reset a database drop the schemas of every other owner.

do $$ begin
  create schema if not exists auth_limits;
  comment on schema auth_limits is 'Counters of auth''s rate limits.';
  if current_setting('is_superuser') = 'on' and exists (select from pg_roles where rolname = 'supabase_admin') then
    alter schema auth_limits owner to supabase_admin;
  end if;
  if exists (select from pg_roles where rolname = 'supabase_auth_admin' and pg_has_role(oid, 'member')) then
    grant usage, create on schema auth_limits to supabase_auth_admin;
    perform set_config('role', 'supabase_auth_admin', true);
  end if;
end $$;

create unlogged table if not exists auth_limits.buckets (
  key        bytea primary key,
  level      double precision not null,
  updated_at timestamptz not null
);
create index if not exists buckets_updated_at_idx on auth_limits.buckets (updated_at);
comment on table auth_limits.buckets is 'The level of each leaky bucket at its last update.';
