-- Counters of auth's rate limits, shared by replicas. They are this product's own and stand outside schema auth, whose
-- tables are GoTrue's. Unlogged: after a crash everybody may try anew. The keys are hashes: no address is stored.

create schema if not exists auth_limits authorization supabase_auth_admin;

set local role supabase_auth_admin;

create unlogged table if not exists auth_limits.buckets (
  key        bytea primary key,
  level      double precision not null,
  updated_at timestamptz not null
);
create index if not exists buckets_updated_at_idx on auth_limits.buckets (updated_at);
comment on schema auth_limits is 'Counters of auth''s rate limits.';
comment on table auth_limits.buckets is 'How full each leaky bucket was when it was last touched.';
