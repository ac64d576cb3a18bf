-- The keys of an installation with several servers. Each server reads them here and listens on channel daawo_keys for
-- changes. An installation with one server keeps its keys in the data folder.
create schema if not exists daawo;

create table if not exists daawo.keys (
  only_one   boolean primary key default true,
  secrets    jsonb not null,
  changed_at timestamptz not null default now(),
  constraint keys_only_one check (only_one)
);
comment on table daawo.keys is 'Signing keys and API keys of all servers of this installation. A reader of this table can act as any user.';
comment on column daawo.keys.only_one is 'Always true: the table has one row.';
comment on column daawo.keys.secrets is 'The keys, in the format of keys.json in a data folder.';
comment on column daawo.keys.changed_at is 'When the keys were created or rotated.';

alter table daawo.keys enable row level security;
revoke all on table daawo.keys from public;
