-- The keys of an installation that runs on several servers: each reads them here and listens to daawo_keys for new ones.
-- An installation of one server keeps them in its data folder.
create schema if not exists daawo;

create table if not exists daawo.keys (
  only_one   boolean primary key default true,
  secrets    jsonb not null,
  changed_at timestamptz not null default now(),
  constraint keys_only_one check (only_one)
);
comment on table daawo.keys is 'What signs tokens and opens the API, for all servers of this installation. Whoever reads it is every user.';
comment on column daawo.keys.only_one is 'True: there is one set.';
comment on column daawo.keys.secrets is 'The keys as in keys.json of a data folder.';
comment on column daawo.keys.changed_at is 'When they were made or rotated.';

alter table daawo.keys enable row level security;
revoke all on table daawo.keys from public;
