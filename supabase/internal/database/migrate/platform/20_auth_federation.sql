-- Auth: the tables of further GoTrue v2.196 features: single sign-on, custom providers and the OAuth server. GoTrue
-- needs these tables even if the features are disabled and the tables are empty.

select set_config('role', rolname, true) from pg_roles where rolname = 'supabase_auth_admin' and pg_has_role(oid, 'member');

-- Single sign-on and custom providers.

create table if not exists auth.sso_providers (
  id          uuid not null,
  resource_id text,
  created_at  timestamptz,
  updated_at  timestamptz,
  disabled    boolean,
  constraint sso_providers_pkey primary key (id),
  constraint "resource_id not empty" check ((resource_id = NULL) or (char_length(resource_id) > 0))
);
create unique index if not exists sso_providers_resource_id_idx on auth.sso_providers (lower(resource_id));
create index if not exists sso_providers_resource_id_pattern_idx on auth.sso_providers (resource_id text_pattern_ops);
alter table auth.sso_providers enable row level security;

create table if not exists auth.sso_domains (
  id              uuid not null,
  sso_provider_id uuid not null,
  domain          text not null,
  created_at      timestamptz,
  updated_at      timestamptz,
  constraint sso_domains_pkey primary key (id),
  constraint sso_domains_sso_provider_id_fkey foreign key (sso_provider_id) references auth.sso_providers(id) on delete cascade,
  constraint "domain not empty" check (char_length(domain) > 0)
);
create unique index if not exists sso_domains_domain_idx on auth.sso_domains (lower(domain));
create index if not exists sso_domains_sso_provider_id_idx on auth.sso_domains (sso_provider_id);
alter table auth.sso_domains enable row level security;

create table if not exists auth.saml_providers (
  id                uuid not null,
  sso_provider_id   uuid not null,
  entity_id         text not null,
  metadata_xml      text not null,
  metadata_url      text,
  attribute_mapping jsonb,
  created_at        timestamptz,
  updated_at        timestamptz,
  name_id_format    text,
  constraint saml_providers_pkey primary key (id),
  constraint saml_providers_entity_id_key unique (entity_id),
  constraint saml_providers_sso_provider_id_fkey foreign key (sso_provider_id) references auth.sso_providers(id) on delete cascade,
  constraint "entity_id not empty" check (char_length(entity_id) > 0),
  constraint "metadata_url not empty" check ((metadata_url = NULL) or (char_length(metadata_url) > 0)),
  constraint "metadata_xml not empty" check (char_length(metadata_xml) > 0)
);
create index if not exists saml_providers_sso_provider_id_idx on auth.saml_providers (sso_provider_id);
alter table auth.saml_providers enable row level security;

create table if not exists auth.saml_relay_states (
  id              uuid not null,
  sso_provider_id uuid not null,
  request_id      text not null,
  for_email       text,
  redirect_to     text,
  created_at      timestamptz,
  updated_at      timestamptz,
  flow_state_id   uuid,
  constraint saml_relay_states_pkey primary key (id),
  constraint saml_relay_states_flow_state_id_fkey foreign key (flow_state_id) references auth.flow_state(id) on delete cascade,
  constraint saml_relay_states_sso_provider_id_fkey foreign key (sso_provider_id) references auth.sso_providers(id) on delete cascade,
  constraint "request_id not empty" check (char_length(request_id) > 0)
);
create index if not exists saml_relay_states_created_at_idx on auth.saml_relay_states (created_at desc);
create index if not exists saml_relay_states_for_email_idx on auth.saml_relay_states (for_email);
create index if not exists saml_relay_states_sso_provider_id_idx on auth.saml_relay_states (sso_provider_id);
alter table auth.saml_relay_states enable row level security;

create table if not exists auth.custom_oauth_providers (
  id                      uuid not null default gen_random_uuid(),
  provider_type           text not null,
  identifier              text not null,
  name                    text not null,
  client_id               text not null,
  client_secret           text not null,
  acceptable_client_ids   text[] not null default '{}',
  scopes                  text[] not null default '{}',
  pkce_enabled            boolean not null default true,
  attribute_mapping       jsonb not null default '{}'::jsonb,
  authorization_params    jsonb not null default '{}'::jsonb,
  enabled                 boolean not null default true,
  email_optional          boolean not null default false,
  issuer                  text,
  discovery_url           text,
  skip_nonce_check        boolean not null default false,
  cached_discovery        jsonb,
  discovery_cached_at     timestamptz,
  authorization_url       text,
  token_url               text,
  userinfo_url            text,
  jwks_uri                text,
  created_at              timestamptz not null default now(),
  updated_at              timestamptz not null default now(),
  custom_claims_allowlist text[] not null default '{}',
  constraint custom_oauth_providers_pkey primary key (id),
  constraint custom_oauth_providers_identifier_key unique (identifier),
  constraint custom_oauth_providers_authorization_url_https check ((authorization_url is null) or (authorization_url like 'https://%')),
  constraint custom_oauth_providers_authorization_url_length check ((authorization_url is null) or (char_length(authorization_url) <= 2048)),
  constraint custom_oauth_providers_client_id_length check ((char_length(client_id) >= 1) and (char_length(client_id) <= 512)),
  constraint custom_oauth_providers_discovery_url_length check ((discovery_url is null) or (char_length(discovery_url) <= 2048)),
  constraint custom_oauth_providers_identifier_format check (identifier ~ '^[a-z0-9][a-z0-9:-]{0,48}[a-z0-9]$'),
  constraint custom_oauth_providers_issuer_length check ((issuer is null) or ((char_length(issuer) >= 1) and (char_length(issuer) <= 2048))),
  constraint custom_oauth_providers_jwks_uri_https check ((jwks_uri is null) or (jwks_uri like 'https://%')),
  constraint custom_oauth_providers_jwks_uri_length check ((jwks_uri is null) or (char_length(jwks_uri) <= 2048)),
  constraint custom_oauth_providers_name_length check ((char_length(name) >= 1) and (char_length(name) <= 100)),
  constraint custom_oauth_providers_oauth2_requires_endpoints check ((provider_type <> 'oauth2') or ((authorization_url is not null) and (token_url is not null) and (userinfo_url is not null))),
  constraint custom_oauth_providers_oidc_discovery_url_https check ((provider_type <> 'oidc') or (discovery_url is null) or (discovery_url like 'https://%')),
  constraint custom_oauth_providers_oidc_issuer_https check ((provider_type <> 'oidc') or (issuer is null) or (issuer like 'https://%')),
  constraint custom_oauth_providers_oidc_requires_issuer check ((provider_type <> 'oidc') or (issuer is not null)),
  constraint custom_oauth_providers_provider_type_check check (provider_type = any (array['oauth2', 'oidc'])),
  constraint custom_oauth_providers_token_url_https check ((token_url is null) or (token_url like 'https://%')),
  constraint custom_oauth_providers_token_url_length check ((token_url is null) or (char_length(token_url) <= 2048)),
  constraint custom_oauth_providers_userinfo_url_https check ((userinfo_url is null) or (userinfo_url like 'https://%')),
  constraint custom_oauth_providers_userinfo_url_length check ((userinfo_url is null) or (char_length(userinfo_url) <= 2048))
);
create index if not exists custom_oauth_providers_created_at_idx on auth.custom_oauth_providers (created_at);
create index if not exists custom_oauth_providers_enabled_idx on auth.custom_oauth_providers (enabled);
create index if not exists custom_oauth_providers_identifier_idx on auth.custom_oauth_providers (identifier);
create index if not exists custom_oauth_providers_provider_type_idx on auth.custom_oauth_providers (provider_type);

-- Authorizations and consents of the OAuth server.

create table if not exists auth.oauth_authorizations (
  id                    uuid not null,
  authorization_id      text not null,
  client_id             uuid not null,
  user_id               uuid,
  redirect_uri          text not null,
  scope                 text not null,
  state                 text,
  resource              text,
  code_challenge        text,
  code_challenge_method auth.code_challenge_method,
  response_type         auth.oauth_response_type not null default 'code'::auth.oauth_response_type,
  status                auth.oauth_authorization_status not null default 'pending'::auth.oauth_authorization_status,
  authorization_code    text,
  created_at            timestamptz not null default now(),
  expires_at            timestamptz not null default (now() + '00:03:00'::interval),
  approved_at           timestamptz,
  nonce                 text,
  constraint oauth_authorizations_pkey primary key (id),
  constraint oauth_authorizations_authorization_code_key unique (authorization_code),
  constraint oauth_authorizations_authorization_id_key unique (authorization_id),
  constraint oauth_authorizations_client_id_fkey foreign key (client_id) references auth.oauth_clients(id) on delete cascade,
  constraint oauth_authorizations_user_id_fkey foreign key (user_id) references auth.users(id) on delete cascade,
  constraint oauth_authorizations_authorization_code_length check (char_length(authorization_code) <= 255),
  constraint oauth_authorizations_code_challenge_length check (char_length(code_challenge) <= 128),
  constraint oauth_authorizations_expires_at_future check (expires_at > created_at),
  constraint oauth_authorizations_nonce_length check (char_length(nonce) <= 255),
  constraint oauth_authorizations_redirect_uri_length check (char_length(redirect_uri) <= 2048),
  constraint oauth_authorizations_resource_length check (char_length(resource) <= 2048),
  constraint oauth_authorizations_scope_length check (char_length(scope) <= 4096),
  constraint oauth_authorizations_state_length check (char_length(state) <= 4096)
);
create index if not exists oauth_auth_pending_exp_idx on auth.oauth_authorizations (expires_at) where status = 'pending';

create table if not exists auth.oauth_consents (
  id         uuid not null,
  user_id    uuid not null,
  client_id  uuid not null,
  scopes     text not null,
  granted_at timestamptz not null default now(),
  revoked_at timestamptz,
  constraint oauth_consents_pkey primary key (id),
  constraint oauth_consents_user_client_unique unique (user_id, client_id),
  constraint oauth_consents_client_id_fkey foreign key (client_id) references auth.oauth_clients(id) on delete cascade,
  constraint oauth_consents_user_id_fkey foreign key (user_id) references auth.users(id) on delete cascade,
  constraint oauth_consents_revoked_after_granted check ((revoked_at is null) or (revoked_at >= granted_at)),
  constraint oauth_consents_scopes_length check (char_length(scopes) <= 2048),
  constraint oauth_consents_scopes_not_empty check (char_length(trim(both from scopes)) > 0)
);
create index if not exists oauth_consents_active_client_idx on auth.oauth_consents (client_id) where revoked_at is null;
create index if not exists oauth_consents_active_user_client_idx on auth.oauth_consents (user_id, client_id) where revoked_at is null;
create index if not exists oauth_consents_user_order_idx on auth.oauth_consents (user_id, granted_at desc);

-- The comments of GoTrue's schema, as in 20_auth.sql.

comment on table auth.saml_providers is 'Auth: Manages SAML Identity Provider connections.';
comment on table auth.saml_relay_states is
  'Auth: Contains SAML Relay State information for each Service Provider initiated login.';
comment on table auth.sso_domains is 'Auth: Manages SSO email address domain mapping to an SSO Identity Provider.';
comment on table auth.sso_providers is
  'Auth: Manages SSO identity provider information; see saml_providers for SAML.';
comment on column auth.sso_providers.resource_id is
  'Auth: Uniquely identifies a SSO provider according to a user-chosen resource ID (case insensitive), useful in infrastructure as code.';

-- postgres may read the tables of before 2025, and let other roles read them. The default privileges of the schema
-- (04_default_privileges.sql) give it and dashboard_user the rest, where they are set.
do $$
declare
  readable text;
begin
  if exists (select from pg_roles where rolname = 'postgres') then
    foreach readable in array array[
      'audit_log_entries', 'flow_state', 'identities', 'instances', 'mfa_amr_claims', 'mfa_challenges', 'mfa_factors',
      'one_time_tokens', 'refresh_tokens', 'saml_providers', 'saml_relay_states', 'schema_migrations', 'sessions',
      'sso_domains', 'sso_providers', 'users'
    ] loop
      execute format('grant select on auth.%I to postgres with grant option', readable);
    end loop;
  end if;
end $$;

reset role;
