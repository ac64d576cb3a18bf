-- Auth: the tables of GoTrue v2.196 after its last migration, with the same columns, owner, types, constraints and indexes,
-- so that either server can serve the database. auth.uid() and similar functions are in 03_claims.sql, the tables of
-- disabled features in 20_auth_federation.sql, and the ledger that GoTrue reads in 20_auth_ledger.sql.

do $$
declare
  allowed record;
begin
  -- "if not exists" would also need the right to create schemas, which supabase_auth_admin may lack.
  if to_regnamespace('auth') is null then
    create schema auth;
  end if;
  -- A database that GoTrue alone has served may lack these roles.
  for allowed in
    select * from (values
      ('supabase_auth_admin', 'all', 'with grant option'), ('dashboard_user', 'all', ''),
      ('postgres', 'usage', ''), ('anon', 'usage', ''), ('authenticated', 'usage', ''), ('service_role', 'usage', '')
    ) as wanted (name, privilege, more)
    where exists (select from pg_roles where rolname = wanted.name)
  loop
    execute format('grant %s on schema auth to %I %s', allowed.privilege, allowed.name, allowed.more);
  end loop;
end $$;

-- The owner is supabase_auth_admin, or the connection's role where that role is missing.
select set_config('role', rolname, true) from pg_roles where rolname = 'supabase_auth_admin' and pg_has_role(oid, 'member');

do $$
declare
  made record;
begin
  for made in
    select * from (values
      ('aal_level',                  array['aal1', 'aal2', 'aal3']),
      ('code_challenge_method',      array['s256', 'plain']),
      ('factor_status',              array['unverified', 'verified']),
      ('factor_type',                array['totp', 'webauthn', 'phone']),
      ('oauth_authorization_status', array['pending', 'approved', 'denied', 'expired']),
      ('oauth_client_type',          array['public', 'confidential']),
      ('oauth_registration_type',    array['dynamic', 'manual']),
      ('oauth_response_type',        array['code']),
      ('one_time_token_type',        array['confirmation_token', 'reauthentication_token', 'recovery_token',
                                           'email_change_token_new', 'email_change_token_current', 'phone_change_token'])
    ) as kind (name, labels)
  loop
    if to_regtype('auth.' || made.name) is null then
      execute format('create type auth.%I as enum (%s)', made.name,
        (select string_agg(quote_literal(label), ', ' order by n) from unnest(made.labels) with ordinality as l (label, n)));
    end if;
  end loop;
end $$;

-- Users, identities and one-time tokens.

create table if not exists auth.users (
  instance_id                 uuid,
  id                          uuid not null,
  aud                         varchar(255),
  role                        varchar(255),
  email                       varchar(255),
  encrypted_password          varchar(255),
  email_confirmed_at          timestamptz,
  invited_at                  timestamptz,
  confirmation_token          varchar(255),
  confirmation_sent_at        timestamptz,
  recovery_token              varchar(255),
  recovery_sent_at            timestamptz,
  email_change_token_new      varchar(255),
  email_change                varchar(255),
  email_change_sent_at        timestamptz,
  last_sign_in_at             timestamptz,
  raw_app_meta_data           jsonb,
  raw_user_meta_data          jsonb,
  is_super_admin              boolean,
  created_at                  timestamptz,
  updated_at                  timestamptz,
  phone                       text default null::varchar,
  phone_confirmed_at          timestamptz,
  phone_change                text default ''::varchar,
  phone_change_token          varchar(255) default '',
  phone_change_sent_at        timestamptz,
  confirmed_at                timestamptz generated always as (least(email_confirmed_at, phone_confirmed_at)) stored,
  email_change_token_current  varchar(255) default '',
  email_change_confirm_status smallint default 0,
  banned_until                timestamptz,
  reauthentication_token      varchar(255) default '',
  reauthentication_sent_at    timestamptz,
  is_sso_user                 boolean not null default false,
  deleted_at                  timestamptz,
  is_anonymous                boolean not null default false,
  constraint users_pkey primary key (id),
  constraint users_phone_key unique (phone),
  constraint users_email_change_confirm_status_check check ((email_change_confirm_status >= 0) and (email_change_confirm_status <= 2))
);
create unique index if not exists confirmation_token_idx on auth.users (confirmation_token) where confirmation_token !~ '^[0-9 ]*$';
create unique index if not exists email_change_token_current_idx on auth.users (email_change_token_current) where email_change_token_current !~ '^[0-9 ]*$';
create unique index if not exists email_change_token_new_idx on auth.users (email_change_token_new) where email_change_token_new !~ '^[0-9 ]*$';
create unique index if not exists reauthentication_token_idx on auth.users (reauthentication_token) where reauthentication_token !~ '^[0-9 ]*$';
create unique index if not exists recovery_token_idx on auth.users (recovery_token) where recovery_token !~ '^[0-9 ]*$';
create unique index if not exists users_email_partial_key on auth.users (email) where is_sso_user = false;
create index if not exists users_instance_id_email_idx on auth.users (instance_id, lower((email)::text));
create index if not exists users_instance_id_idx on auth.users (instance_id);
create index if not exists users_is_anonymous_idx on auth.users (is_anonymous);
alter table auth.users enable row level security;

create table if not exists auth.identities (
  provider_id     text not null,
  user_id         uuid not null,
  identity_data   jsonb not null,
  provider        text not null,
  last_sign_in_at timestamptz,
  created_at      timestamptz,
  updated_at      timestamptz,
  email           text generated always as (lower((identity_data ->> 'email'))) stored,
  id              uuid not null default gen_random_uuid(),
  constraint identities_pkey primary key (id),
  constraint identities_provider_id_provider_unique unique (provider_id, provider),
  constraint identities_user_id_fkey foreign key (user_id) references auth.users(id) on delete cascade
);
create index if not exists identities_email_idx on auth.identities (email text_pattern_ops);
create index if not exists identities_user_id_idx on auth.identities (user_id);
alter table auth.identities enable row level security;

create table if not exists auth.one_time_tokens (
  id         uuid not null,
  user_id    uuid not null,
  token_type auth.one_time_token_type not null,
  token_hash text not null,
  relates_to text not null,
  created_at timestamp not null default now(),
  updated_at timestamp not null default now(),
  constraint one_time_tokens_pkey primary key (id),
  constraint one_time_tokens_user_id_fkey foreign key (user_id) references auth.users(id) on delete cascade,
  constraint one_time_tokens_token_hash_check check (char_length(token_hash) > 0)
);
create index if not exists one_time_tokens_relates_to_hash_idx on auth.one_time_tokens using hash (relates_to);
create index if not exists one_time_tokens_token_hash_hash_idx on auth.one_time_tokens using hash (token_hash);
create unique index if not exists one_time_tokens_user_id_token_type_key on auth.one_time_tokens (user_id, token_type);
alter table auth.one_time_tokens enable row level security;

create table if not exists auth.audit_log_entries (
  instance_id uuid,
  id          uuid not null,
  payload     json,
  created_at  timestamptz,
  ip_address  varchar(64) not null default '',
  constraint audit_log_entries_pkey primary key (id)
);
create index if not exists audit_logs_instance_id_idx on auth.audit_log_entries (instance_id);
alter table auth.audit_log_entries enable row level security;

create table if not exists auth.instances (
  id              uuid not null,
  uuid            uuid,
  raw_base_config text,
  created_at      timestamptz,
  updated_at      timestamptz,
  constraint instances_pkey primary key (id)
);
alter table auth.instances enable row level security;

-- OAuth clients of this server. A session can belong to a client.

create table if not exists auth.oauth_clients (
  id                         uuid not null,
  client_secret_hash         text,
  registration_type          auth.oauth_registration_type not null,
  redirect_uris              text not null,
  grant_types                text not null,
  client_name                text,
  client_uri                 text,
  logo_uri                   text,
  created_at                 timestamptz not null default now(),
  updated_at                 timestamptz not null default now(),
  deleted_at                 timestamptz,
  client_type                auth.oauth_client_type not null default 'confidential'::auth.oauth_client_type,
  token_endpoint_auth_method text not null,
  constraint oauth_clients_pkey primary key (id),
  constraint oauth_clients_client_name_length check (char_length(client_name) <= 1024),
  constraint oauth_clients_client_uri_length check (char_length(client_uri) <= 2048),
  constraint oauth_clients_logo_uri_length check (char_length(logo_uri) <= 2048),
  constraint oauth_clients_token_endpoint_auth_method_check check (token_endpoint_auth_method = any (array['client_secret_basic', 'client_secret_post', 'none']))
);
create index if not exists oauth_clients_deleted_at_idx on auth.oauth_clients (deleted_at);

create table if not exists auth.oauth_client_states (
  id            uuid not null,
  provider_type text not null,
  code_verifier text,
  created_at    timestamptz not null,
  constraint oauth_client_states_pkey primary key (id)
);
create index if not exists idx_oauth_client_states_created_at on auth.oauth_client_states (created_at);

-- Sessions and their tokens.

create table if not exists auth.sessions (
  id                     uuid not null,
  user_id                uuid not null,
  created_at             timestamptz,
  updated_at             timestamptz,
  factor_id              uuid,
  aal                    auth.aal_level,
  not_after              timestamptz,
  refreshed_at           timestamp,
  user_agent             text,
  ip                     inet,
  tag                    text,
  oauth_client_id        uuid,
  refresh_token_hmac_key text,
  refresh_token_counter  bigint,
  scopes                 text,
  constraint sessions_pkey primary key (id),
  constraint sessions_oauth_client_id_fkey foreign key (oauth_client_id) references auth.oauth_clients(id) on delete cascade,
  constraint sessions_user_id_fkey foreign key (user_id) references auth.users(id) on delete cascade,
  constraint sessions_scopes_length check (char_length(scopes) <= 4096)
);
create index if not exists sessions_not_after_idx on auth.sessions (not_after desc);
create index if not exists sessions_oauth_client_id_idx on auth.sessions (oauth_client_id);
create index if not exists sessions_user_id_idx on auth.sessions (user_id);
create index if not exists user_id_created_at_idx on auth.sessions (user_id, created_at);
alter table auth.sessions enable row level security;

create table if not exists auth.refresh_tokens (
  instance_id uuid,
  id          bigserial,
  token       varchar(255),
  user_id     varchar(255),
  revoked     boolean,
  created_at  timestamptz,
  updated_at  timestamptz,
  parent      varchar(255),
  session_id  uuid,
  constraint refresh_tokens_pkey primary key (id),
  constraint refresh_tokens_token_unique unique (token),
  constraint refresh_tokens_session_id_fkey foreign key (session_id) references auth.sessions(id) on delete cascade
);
create index if not exists refresh_tokens_instance_id_idx on auth.refresh_tokens (instance_id);
create index if not exists refresh_tokens_instance_id_user_id_idx on auth.refresh_tokens (instance_id, user_id);
create index if not exists refresh_tokens_parent_idx on auth.refresh_tokens (parent);
create index if not exists refresh_tokens_session_id_revoked_idx on auth.refresh_tokens (session_id, revoked);
create index if not exists refresh_tokens_updated_at_idx on auth.refresh_tokens (updated_at desc);
alter table auth.refresh_tokens enable row level security;

create table if not exists auth.mfa_amr_claims (
  session_id            uuid not null,
  created_at            timestamptz not null,
  updated_at            timestamptz not null,
  authentication_method text not null,
  id                    uuid not null,
  constraint amr_id_pk primary key (id),
  constraint mfa_amr_claims_session_id_authentication_method_pkey unique (session_id, authentication_method),
  constraint mfa_amr_claims_session_id_fkey foreign key (session_id) references auth.sessions(id) on delete cascade
);
alter table auth.mfa_amr_claims enable row level security;

create table if not exists auth.flow_state (
  id                     uuid not null,
  user_id                uuid,
  auth_code              text,
  code_challenge_method  auth.code_challenge_method,
  code_challenge         text,
  provider_type          text not null,
  provider_access_token  text,
  provider_refresh_token text,
  created_at             timestamptz,
  updated_at             timestamptz,
  authentication_method  text not null,
  auth_code_issued_at    timestamptz,
  invite_token           text,
  referrer               text,
  oauth_client_state_id  uuid,
  linking_target_id      uuid,
  email_optional         boolean not null default false,
  constraint flow_state_pkey primary key (id)
);
create index if not exists flow_state_created_at_idx on auth.flow_state (created_at desc);
create index if not exists idx_auth_code on auth.flow_state (auth_code);
create index if not exists idx_user_id_auth_method on auth.flow_state (user_id, authentication_method);
alter table auth.flow_state enable row level security;

-- Second factors and passkeys.

create table if not exists auth.mfa_factors (
  id                           uuid not null,
  user_id                      uuid not null,
  friendly_name                text,
  factor_type                  auth.factor_type not null,
  status                       auth.factor_status not null,
  created_at                   timestamptz not null,
  updated_at                   timestamptz not null,
  secret                       text,
  phone                        text,
  last_challenged_at           timestamptz,
  web_authn_credential         jsonb,
  web_authn_aaguid             uuid,
  last_webauthn_challenge_data jsonb,
  constraint mfa_factors_pkey primary key (id),
  constraint mfa_factors_last_challenged_at_key unique (last_challenged_at),
  constraint mfa_factors_user_id_fkey foreign key (user_id) references auth.users(id) on delete cascade
);
create index if not exists factor_id_created_at_idx on auth.mfa_factors (user_id, created_at);
create unique index if not exists mfa_factors_user_friendly_name_unique on auth.mfa_factors (friendly_name, user_id) where trim(both from friendly_name) <> '';
create index if not exists mfa_factors_user_id_idx on auth.mfa_factors (user_id);
create unique index if not exists unique_phone_factor_per_user on auth.mfa_factors (user_id, phone);
alter table auth.mfa_factors enable row level security;

create table if not exists auth.mfa_challenges (
  id                     uuid not null,
  factor_id              uuid not null,
  created_at             timestamptz not null,
  verified_at            timestamptz,
  ip_address             inet not null,
  otp_code               text,
  web_authn_session_data jsonb,
  constraint mfa_challenges_pkey primary key (id),
  constraint mfa_challenges_auth_factor_id_fkey foreign key (factor_id) references auth.mfa_factors(id) on delete cascade
);
create index if not exists mfa_challenge_created_at_idx on auth.mfa_challenges (created_at desc);
alter table auth.mfa_challenges enable row level security;

create table if not exists auth.webauthn_credentials (
  id               uuid not null default gen_random_uuid(),
  user_id          uuid not null,
  credential_id    bytea not null,
  public_key       bytea not null,
  attestation_type text not null default '',
  aaguid           uuid,
  sign_count       bigint not null default 0,
  transports       jsonb not null default '[]'::jsonb,
  backup_eligible  boolean not null default false,
  backed_up        boolean not null default false,
  friendly_name    text not null default '',
  created_at       timestamptz not null default now(),
  updated_at       timestamptz not null default now(),
  last_used_at     timestamptz,
  constraint webauthn_credentials_pkey primary key (id),
  constraint webauthn_credentials_user_id_fkey foreign key (user_id) references auth.users(id) on delete cascade
);
create unique index if not exists webauthn_credentials_credential_id_key on auth.webauthn_credentials (credential_id);
create index if not exists webauthn_credentials_user_id_idx on auth.webauthn_credentials (user_id);

create table if not exists auth.webauthn_challenges (
  id             uuid not null default gen_random_uuid(),
  user_id        uuid,
  challenge_type text not null,
  session_data   jsonb not null,
  created_at     timestamptz not null default now(),
  expires_at     timestamptz not null,
  constraint webauthn_challenges_pkey primary key (id),
  constraint webauthn_challenges_user_id_fkey foreign key (user_id) references auth.users(id) on delete cascade,
  constraint webauthn_challenges_challenge_type_check check (challenge_type = any (array['signup', 'registration', 'authentication']))
);
create index if not exists webauthn_challenges_expires_at_idx on auth.webauthn_challenges (expires_at);
create index if not exists webauthn_challenges_user_id_idx on auth.webauthn_challenges (user_id);

-- The versions that GoTrue has applied.

create table if not exists auth.schema_migrations (
  version varchar(14) not null,
  constraint schema_migrations_pkey primary key (version)
);
create unique index if not exists schema_migrations_version_idx on auth.schema_migrations (version);
alter table auth.schema_migrations enable row level security;
do $$ begin
  -- Earlier versions of this file had another length.
  if (select atttypmod from pg_attribute where attrelid = 'auth.schema_migrations'::regclass and attname = 'version') <> 14 + 4 then
    alter table auth.schema_migrations alter column version type varchar(14);
  end if;
end $$;

-- The comments of GoTrue's schema. Programs show them, and comparisons of schemas list their differences.

comment on table auth.audit_log_entries is 'Auth: Audit trail for user actions.';
comment on table auth.flow_state is 'Stores metadata for all OAuth/SSO login flows';
comment on table auth.identities is 'Auth: Stores identities associated to a user.';
comment on column auth.identities.email is
  'Auth: Email is a generated column that references the optional email property in the identity_data';
comment on index auth.identities_email_idx is 'Auth: Ensures indexed queries on the email column';
comment on table auth.instances is 'Auth: Manages users across multiple sites.';
comment on table auth.mfa_amr_claims is
  'auth: stores authenticator method reference claims for multi factor authentication';
comment on table auth.mfa_challenges is 'auth: stores metadata about challenge requests made';
comment on table auth.mfa_factors is 'auth: stores metadata about factors';
comment on column auth.mfa_factors.last_webauthn_challenge_data is
  'Stores the latest WebAuthn challenge data including attestation/assertion for customer verification';
comment on table auth.oauth_client_states is
  'Stores OAuth states for third-party provider authentication flows where Supabase acts as the OAuth client.';
comment on table auth.refresh_tokens is 'Auth: Store of tokens used to refresh JWT tokens once they expire.';
comment on table auth.schema_migrations is 'Auth: Manages updates to the auth system.';
comment on table auth.sessions is 'Auth: Stores session data associated to a user.';
comment on column auth.sessions.not_after is
  'Auth: Not after is a nullable column that contains a timestamp after which the session should be regarded as expired.';
comment on column auth.sessions.refresh_token_counter is 'Holds the ID (counter) of the last issued refresh token.';
comment on column auth.sessions.refresh_token_hmac_key is
  'Holds a HMAC-SHA256 key used to sign refresh tokens for this session.';
comment on table auth.users is 'Auth: Stores user login data within a secure schema.';
comment on column auth.users.is_sso_user is
  'Auth: Set this column to true when the account comes from SSO. These accounts can have duplicate emails.';
comment on index auth.users_email_partial_key is
  'Auth: A partial unique index that applies only when is_sso_user is false';

reset role;
