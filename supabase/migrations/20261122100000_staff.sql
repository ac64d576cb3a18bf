-- Staff: accounts with a role in app_metadata.staff_role. A role counts only while the account, its session and its second
-- factor are valid now; the claims of a token alone give no access.

create type public.staff_role as enum ('reviewer', 'editor', 'owner');
comment on type public.staff_role is 'Roles of staff: reviewer (reports), editor (resources), owner (everything).';

create table private.installation (
  name text primary key,
  value text not null
);
comment on table private.installation is 'Facts about the installation that the program writes at its start.';
comment on column private.installation.name is 'Name of the fact: public.';
comment on column private.installation.value is 'Value of the fact.';
alter table private.installation enable row level security;
revoke all on table private.installation from public, anon, authenticated;
grant select on table private.installation to service_role;

create function private.second_factor_required() returns boolean
language sql stable security definer set search_path = ''
as $$
  select coalesce((select i.value <> 'false' from private.installation as i where i.name = 'public'), true)
$$;
comment on function private.second_factor_required() is
  'Whether staff need a second factor: on a public address, and until the program has said that the address is local.';
revoke all on function private.second_factor_required() from public;

-- The session decides, not the token: a removed member, an ended session and a role that was taken away lose access at once.
create function private.current_staff_role() returns public.staff_role
language plpgsql stable security definer set search_path = ''
as $$
declare
  claims constant jsonb := auth.jwt();
  found text;
begin
  if claims ->> 'role' is distinct from 'authenticated' or claims ->> 'session_id' is null then
    return null;
  end if;
  select u.raw_app_meta_data ->> 'staff_role' into found
    from auth.users as u
    join auth.sessions as s on s.user_id = u.id
   where u.id = (claims ->> 'sub')::uuid
     and s.id = (claims ->> 'session_id')::uuid
     and u.deleted_at is null
     and (u.banned_until is null or u.banned_until <= now())
     and s.created_at > now() - interval '12 hours'
     and (s.not_after is null or s.not_after > now())
     and (claims ->> 'aal' = 'aal2' or not private.second_factor_required() and not exists (
       select from auth.mfa_factors as f where f.user_id = u.id and f.status = 'verified'));
  if found in ('reviewer', 'editor', 'owner') then
    return found::public.staff_role;
  end if;
  return null;
end $$;
comment on function private.current_staff_role() is
  'Role of the caller; null without a live session of a staff account, or without the second factor that is required.';

create function private.is_reviewer() returns boolean
language sql stable security definer set search_path = ''
as $$ select coalesce(private.current_staff_role() in ('reviewer', 'owner'), false) $$;
comment on function private.is_reviewer() is 'Whether the caller may work on reports.';

create function private.is_editor() returns boolean
language sql stable security definer set search_path = ''
as $$ select coalesce(private.current_staff_role() in ('editor', 'owner'), false) $$;
comment on function private.is_editor() is 'Whether the caller may edit resources.';

create function private.is_owner() returns boolean
language sql stable security definer set search_path = ''
as $$ select coalesce(private.current_staff_role() = 'owner', false) $$;
comment on function private.is_owner() is 'Whether the caller is an owner.';

revoke all on function private.current_staff_role() from public;
revoke all on function private.is_reviewer(), private.is_editor(), private.is_owner() from public;
grant execute on function private.is_reviewer(), private.is_editor(), private.is_owner() to authenticated;

-- The trail. Triggers and functions of this schema write it; no API role can insert, change or delete a row of it.
create table public.staff_trail (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  actor uuid,
  actor_name text not null,
  action text not null,
  subject text not null,
  subject_id text,
  subject_name text,
  detail jsonb not null default '{}',

  constraint staff_trail_action_known check (action in
    ('read', 'change', 'add', 'note', 'forward', 'export', 'delete', 'retry', 'invite', 'role', 'remove', 'run')),
  constraint staff_trail_subject_known check (subject in ('report', 'resource', 'staff', 'job', 'system')),
  constraint staff_trail_detail_size check (pg_column_size(detail) < 4000)
);
comment on table public.staff_trail is
  'Who read, changed, exported or deleted what. Append-only: rows stay after their subject is deleted, and hold none of its content.';
comment on column public.staff_trail.id is 'Order of the rows.';
comment on column public.staff_trail.at is 'When it happened.';
comment on column public.staff_trail.actor is 'Account that acted; empty for the command line and for scheduled work.';
comment on column public.staff_trail.actor_name is 'Mail address of the account at that time, or the program that acted.';
comment on column public.staff_trail.action is 'What was done.';
comment on column public.staff_trail.subject is 'Kind of the thing it was done to.';
comment on column public.staff_trail.subject_id is 'Its id.';
comment on column public.staff_trail.subject_name is 'Reference of a report, title of a resource, mail address of a member.';
comment on column public.staff_trail.detail is 'Names and values of changed settings, the reason of a deletion, the size of an export.';
create index staff_trail_subject on public.staff_trail (subject, subject_id, id desc);
create index staff_trail_reads on public.staff_trail (actor, subject_id, at desc) where action = 'read';

create function private.keep_trail() returns trigger
language plpgsql set search_path = ''
as $$
begin
  raise exception 'the trail is append-only' using errcode = '42501';
end $$;
comment on function private.keep_trail() is 'Refuses changes of the trail; for triggers.';
revoke all on function private.keep_trail() from public;
create trigger staff_trail_append_only before update or delete on public.staff_trail
  for each row execute function private.keep_trail();
create trigger staff_trail_no_truncate before truncate on public.staff_trail
  for each statement execute function private.keep_trail();

alter table public.staff_trail enable row level security;
revoke all on table public.staff_trail from public, anon, authenticated, service_role;
grant select on table public.staff_trail to authenticated, service_role;
create policy "owners read the trail" on public.staff_trail
  for select to authenticated using ((select private.is_owner()));

-- An account names itself by its token. A program with service_role may name itself in app.actor, which API clients cannot set.
create function private.write_trail(action text, subject text, subject_id text, subject_name text, detail jsonb default '{}')
returns void
language plpgsql volatile security definer set search_path = ''
as $$
declare
  account constant uuid := auth.uid();
  name text;
begin
  if account is not null then
    select u.email into name from auth.users as u where u.id = account;
  end if;
  insert into public.staff_trail (actor, actor_name, action, subject, subject_id, subject_name, detail)
  values (account,
          coalesce(name, case when account is null then nullif(current_setting('app.actor', true), '') end, auth.role(), 'program'),
          write_trail.action, write_trail.subject, write_trail.subject_id, write_trail.subject_name, jsonb_strip_nulls(write_trail.detail));
end $$;
comment on function private.write_trail(text, text, text, text, jsonb) is 'Adds a row to the trail in the name of the caller.';
revoke all on function private.write_trail(text, text, text, text, jsonb) from public;
grant execute on function private.write_trail(text, text, text, text, jsonb) to service_role;

create function private.trail_role() returns trigger
language plpgsql security definer set search_path = ''
as $$
declare
  before_role text;
  after_role text;
begin
  if tg_op <> 'INSERT' then before_role := old.raw_app_meta_data ->> 'staff_role'; end if;
  if tg_op <> 'DELETE' then after_role := new.raw_app_meta_data ->> 'staff_role'; end if;
  if before_role is distinct from after_role then
    perform private.write_trail(case when after_role is null then 'remove' else 'role' end, 'staff',
      case when tg_op = 'DELETE' then old.id else new.id end::text,
      case when tg_op = 'DELETE' then old.email else new.email end,
      jsonb_build_object('from', before_role, 'to', after_role));
  end if;
  return null;
end $$;
comment on function private.trail_role() is 'Writes a changed role of an account to the trail; for triggers.';
revoke all on function private.trail_role() from public;
grant execute on function private.trail_role() to supabase_auth_admin;
create trigger staff_role_trail after insert or update of raw_app_meta_data or delete on auth.users
  for each row execute function private.trail_role();

-- What every staff account may know of itself and of the others. The names show who works on a report.
create function public.my_staff_access() returns jsonb
language plpgsql stable security definer set search_path = ''
as $$
declare
  claims constant jsonb := auth.jwt();
  account auth.users;
begin
  select u.* into account from auth.users as u where u.id = auth.uid();
  return jsonb_build_object(
    'role', private.current_staff_role(),
    'member', coalesce(account.raw_app_meta_data ->> 'staff_role' in ('reviewer', 'editor', 'owner'), false),
    'second_factor_required', private.second_factor_required(),
    'second_factor', coalesce(claims ->> 'aal' = 'aal2', false),
    'has_factor', exists (select from auth.mfa_factors as f where f.user_id = account.id and f.status = 'verified'),
    'id', account.id, 'email', account.email,
    'session_ends', (select s.created_at + interval '12 hours' from auth.sessions as s where s.id = (claims ->> 'session_id')::uuid)
  );
end $$;
comment on function public.my_staff_access() is 'Role of the caller, and what is missing for it to count: membership or a second factor.';

create function public.staff_members() returns table
  (id uuid, name text, role public.staff_role, email text, invited_at timestamptz, last_sign_in_at timestamptz, has_factor boolean, sessions bigint)
language plpgsql stable security definer set search_path = ''
as $$
declare
  mine constant public.staff_role := case when auth.role() = 'service_role' then 'owner' else private.current_staff_role() end;
begin
  if mine is null then
    raise exception 'staff only' using errcode = '42501';
  end if;
  return query
    select u.id, coalesce(nullif(btrim(u.raw_user_meta_data ->> 'name'), ''), split_part(u.email, '@', 1))::text,
           (u.raw_app_meta_data ->> 'staff_role')::public.staff_role,
           case when mine = 'owner' then u.email::text end,
           case when mine = 'owner' then u.invited_at end,
           case when mine = 'owner' then u.last_sign_in_at end,
           case when mine = 'owner' then exists (select from auth.mfa_factors as f where f.user_id = u.id and f.status = 'verified') end,
           case when mine = 'owner' then (select count(*) from auth.sessions as s where s.user_id = u.id) end
      from auth.users as u
     where u.raw_app_meta_data ->> 'staff_role' in ('reviewer', 'editor', 'owner') and u.deleted_at is null
     order by 2;
end $$;
comment on function public.staff_members() is 'Names and roles of the staff; owners also see mail addresses, sign-ins and sessions.';

create function private.require_owner() returns void
language plpgsql stable security definer set search_path = ''
as $$
begin
  if auth.role() is distinct from 'service_role' and not private.is_owner() then
    raise exception 'owners only' using errcode = '42501';
  end if;
end $$;
comment on function private.require_owner() is 'Raises 42501 unless the caller is an owner, or the program itself.';
revoke all on function private.require_owner() from public;

-- A role given or taken away ends the sessions of the account: the next sign-in has the new role.
create function public.set_staff_role(member uuid, role public.staff_role) returns void
language plpgsql volatile security definer set search_path = ''
as $$
declare
  account auth.users;
begin
  perform private.require_owner();
  perform pg_advisory_xact_lock(hashtext('staff'));
  select u.* into account from auth.users as u where u.id = set_staff_role.member for update;
  if not found then
    raise exception 'no account has this id' using errcode = 'P0002';
  end if;
  if account.raw_app_meta_data ->> 'staff_role' = 'owner' and set_staff_role.role is distinct from 'owner'
     and (select count(*) from auth.users as u where u.raw_app_meta_data ->> 'staff_role' = 'owner' and u.deleted_at is null) < 2 then
    raise exception 'the last owner stays: give another account the role owner first' using errcode = '23514';
  end if;
  if account.raw_app_meta_data ->> 'staff_role' is not distinct from set_staff_role.role::text then
    return;
  end if;
  update auth.users as u
     set raw_app_meta_data = case when set_staff_role.role is null then coalesce(u.raw_app_meta_data, '{}') - 'staff_role'
                                  else coalesce(u.raw_app_meta_data, '{}') || jsonb_build_object('staff_role', set_staff_role.role) end,
         updated_at = now()
   where u.id = account.id;
  if account.raw_app_meta_data ->> 'staff_role' is not null then
    delete from auth.sessions as s where s.user_id = account.id;
  end if;
end $$;
comment on function public.set_staff_role(uuid, public.staff_role) is
  'Gives an account a role, or takes it away (null). Its sessions end. The last owner keeps the role. Owners and service_role only.';

create function public.end_staff_sessions(member uuid) returns bigint
language plpgsql volatile security definer set search_path = ''
as $$
declare
  ended bigint;
  address text;
begin
  perform private.require_owner();
  select u.email into address from auth.users as u where u.id = end_staff_sessions.member and u.raw_app_meta_data ? 'staff_role';
  if not found then
    raise exception 'no member has this id' using errcode = 'P0002';
  end if;
  delete from auth.sessions as s where s.user_id = end_staff_sessions.member;
  get diagnostics ended = row_count;
  perform private.write_trail('change', 'staff', end_staff_sessions.member::text, address, jsonb_build_object('sessions_ended', ended));
  return ended;
end $$;
comment on function public.end_staff_sessions(uuid) is 'Signs a member out everywhere. Owners and service_role only.';

create function public.trail_invitation(address text, role public.staff_role) returns void
language plpgsql volatile security definer set search_path = ''
as $$
begin
  perform private.require_owner();
  perform private.write_trail('invite', 'staff', null, trail_invitation.address, jsonb_build_object('role', trail_invitation.role));
end $$;
comment on function public.trail_invitation(text, public.staff_role) is
  'Writes an invitation to the trail before it is sent; fails for callers who may not invite.';

revoke all on function public.my_staff_access(), public.staff_members(), public.set_staff_role(uuid, public.staff_role),
  public.end_staff_sessions(uuid), public.trail_invitation(text, public.staff_role) from public, anon, authenticated, service_role;
grant execute on function public.my_staff_access() to authenticated;
grant execute on function public.staff_members(), public.set_staff_role(uuid, public.staff_role), public.end_staff_sessions(uuid),
  public.trail_invitation(text, public.staff_role) to authenticated, service_role;
