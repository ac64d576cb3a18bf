-- A member may change the own name, so the desk knows it.
create or replace function public.my_staff_access() returns jsonb
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
    'id', account.id, 'email', account.email, 'name', nullif(btrim(account.raw_user_meta_data ->> 'name'), ''),
    'session_ends', (select s.created_at + interval '12 hours' from auth.sessions as s where s.id = (claims ->> 'session_id')::uuid)
  );
end $$;
