-- Encrypted secrets with the tables and functions of supabase_vault 0.3.1.
--
-- The cipher is A256CBC-HS512 of RFC 7518 (5.2.5): AES-256-CBC, then HMAC-SHA-512 over the additional data, the nonce and the
-- ciphertext. The root key is the file "<data folder>.vault-key", which is not part of the database and of no dump. Only the
-- owner of these functions, a superuser, can read it.

create function vault._seal(key bytea, nonce bytea, message bytea, additional bytea) returns bytea
language sql immutable strict set search_path = pg_catalog, pg_temp as $$
  select sealed || substring(@extschema:pgcrypto@.hmac(
           additional || nonce || sealed || int8send(length(additional)::bigint * 8),
           substring(key from 1 for 32), 'sha512') from 1 for 32)
    from (select @extschema:pgcrypto@.encrypt_iv(message, substring(key from 33 for 32), nonce, 'aes-cbc/pad:pkcs') as sealed) s
$$;

create function vault._open(key bytea, nonce bytea, message bytea, additional bytea) returns bytea
language plpgsql immutable strict set search_path = pg_catalog, pg_temp as $$
declare
  sealed bytea := substring(message from 1 for length(message) - 32);
  tag    bytea := substring(message from length(message) - 31);
begin
  -- The hashes of the tags are compared, so that the time of the comparison says nothing about the tag.
  if length(message) < 48 or sha256(tag) <> sha256(substring(@extschema:pgcrypto@.hmac(
       additional || nonce || sealed || int8send(length(additional)::bigint * 8),
       substring(key from 1 for 32), 'sha512') from 1 for 32)) then
    raise exception 'a secret of the vault cannot be decrypted: it was changed, or the key is not the one that encrypted it'
      using hint = 'The key is the file "<data folder>.vault-key". A backup of the stack contains it.';
  end if;
  return @extschema:pgcrypto@.decrypt_iv(sealed, substring(key from 33 for 32), nonce, 'aes-cbc/pad:pkcs');
end
$$;

-- _derived_key returns the 64 bytes for a key number and a context.
create function vault._derived_key(key_id bigint, context bytea) returns bytea
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  root bytea;
begin
  root := decode(btrim(pg_read_file(current_setting('data_directory') || '.vault-key'), E' \n'), 'hex');
  if length(root) <> 64 then
    raise exception 'the key file of the vault must have 64 bytes in hexadecimal';
  end if;
  return @extschema:pgcrypto@.hmac(context || int8send(key_id), root, 'sha512');
end
$$;

create function vault._crypto_aead_det_encrypt(
  message bytea, additional bytea, key_id bigint, context bytea default 'pgsodium', nonce bytea default null
) returns bytea
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  if length(nonce) is distinct from 16 then
    raise exception 'the nonce must have 16 bytes';
  end if;
  return vault._seal(vault._derived_key(key_id, context), nonce, message, additional);
end
$$;

create function vault._crypto_aead_det_decrypt(
  message bytea, additional bytea, key_id bigint, context bytea default 'pgsodium', nonce bytea default null
) returns bytea
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select vault._open(vault._derived_key(key_id, context), nonce, message, additional)
$$;

create function vault._crypto_aead_det_noncegen() returns bytea
language sql volatile set search_path = pg_catalog, pg_temp as $$
  select @extschema:pgcrypto@.gen_random_bytes(16)
$$;

create table vault.secrets (
  id          uuid primary key default gen_random_uuid(),
  name        text,
  description text not null default '',
  secret      text not null,
  key_id      uuid,
  nonce       bytea default vault._crypto_aead_det_noncegen(),
  created_at  timestamptz not null default current_timestamp,
  updated_at  timestamptz not null default current_timestamp
);
comment on table vault.secrets is 'Table with encrypted `secret` column for storing sensitive information on disk.';
create unique index on vault.secrets using btree (name) where name is not null;

create view vault.decrypted_secrets as
  select s.id, s.name, s.description, s.secret,
         convert_from(vault._crypto_aead_det_decrypt(
           decode(s.secret, 'base64'), convert_to(s.id::text, 'utf8'), 0, 'pgsodium'::bytea, s.nonce), 'utf8') as decrypted_secret,
         s.key_id, s.nonce, s.created_at, s.updated_at
    from vault.secrets s;

create function vault._encrypted(secret text, id uuid, nonce bytea) returns text
language sql stable set search_path = pg_catalog, pg_temp as $$
  select encode(vault._crypto_aead_det_encrypt(
    convert_to(secret, 'utf8'), convert_to(id::text, 'utf8'), 0, 'pgsodium'::bytea, nonce), 'base64')
$$;

create function vault.create_secret(
  new_secret text, new_name text default null, new_description text default '', new_key_id uuid default null
) returns uuid
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  new_id    uuid := gen_random_uuid();
  new_nonce bytea := vault._crypto_aead_det_noncegen();
begin
  insert into vault.secrets (id, name, description, secret, nonce)
  values (new_id, new_name, coalesce(new_description, ''), vault._encrypted(new_secret, new_id, new_nonce), new_nonce);
  return new_id;
end
$$;

create function vault.update_secret(
  secret_id uuid, new_secret text default null, new_name text default null, new_description text default null,
  new_key_id uuid default null
) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  new_nonce bytea := vault._crypto_aead_det_noncegen(); -- a nonce must not serve two texts
begin
  update vault.secrets s
     set secret      = coalesce(vault._encrypted(new_secret, s.id, new_nonce), s.secret),
         nonce       = case when new_secret is null then s.nonce else new_nonce end,
         name        = coalesce(new_name, s.name),
         description = coalesce(new_description, s.description),
         updated_at  = now()
   where s.id = secret_id;
end
$$;

revoke all on function
  vault._seal(bytea, bytea, bytea, bytea), vault._open(bytea, bytea, bytea, bytea), vault._derived_key(bigint, bytea),
  vault._crypto_aead_det_encrypt(bytea, bytea, bigint, bytea, bytea),
  vault._crypto_aead_det_decrypt(bytea, bytea, bigint, bytea, bytea),
  vault._crypto_aead_det_noncegen(), vault._encrypted(text, uuid, bytea),
  vault.create_secret(text, text, text, uuid), vault.update_secret(uuid, text, text, text, uuid)
from public;

do $$
declare
  role text;
  more text;
begin
  for role in
    select rolname from pg_roles where rolname in ('postgres', 'service_role', (parse_ident('@extowner@'))[1])
  loop
    more := case role when 'service_role' then '' else ' with grant option' end;
    execute format('grant usage on schema vault to %I', role) || more;
    execute format('grant select, delete on vault.secrets, vault.decrypted_secrets to %I', role) || more;
    if role <> 'service_role' then
      execute format('grant truncate, references on vault.secrets, vault.decrypted_secrets to %I', role) || more;
    end if;
    execute format('grant execute on function vault.create_secret(text, text, text, uuid), '
      'vault.update_secret(uuid, text, text, text, uuid), '
      'vault._crypto_aead_det_decrypt(bytea, bytea, bigint, bytea, bytea) to %I', role) || more;
  end loop;
end
$$;

select pg_extension_config_dump('vault.secrets', '');
