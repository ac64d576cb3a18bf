-- Auth: repairs of rows that an earlier version of the engine wrote.

-- A deletion that keeps the row (should_soft_delete) left these columns empty. GoTrue cannot read such a row. It writes a
-- hash of the user's id and the removed text, which was empty here. Every deletion writes email_change, so a row with it
-- needs nothing.
update auth.users u
   set email_change = coalesce(email_change, hidden),
       phone_change = coalesce(phone_change, left(hidden, 15))
  from (select id as deleted, translate(rtrim(encode(sha256(convert_to(id::text, 'UTF8')), 'base64'), '='), '+/', '-_') as hidden
          from auth.users where deleted_at is not null) d
 where u.id = d.deleted and (u.email_change is null or u.phone_change is null);

-- A user with a confirmed contact is not anonymous.
update auth.users set is_anonymous = false
 where is_anonymous
   and (email is not null and email_confirmed_at is not null or phone is not null and phone_confirmed_at is not null);

-- GoTrue cannot read a null here, neither a factor without a secret nor an application without one.
update auth.mfa_factors set secret = '' where secret is null;
update auth.oauth_clients set client_secret_hash = '' where client_secret_hash is null;
