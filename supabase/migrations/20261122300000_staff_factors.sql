-- A member who has lost the phone with the second factor signs in again without the person who runs the server: an owner
-- removes the factor, and on a public address the next sign-in adds a new one.
create function public.remove_staff_factors(member uuid) returns bigint
language plpgsql volatile security definer set search_path = ''
as $$
declare
  removed bigint;
  address text;
begin
  perform private.require_owner();
  select u.email into address from auth.users as u where u.id = remove_staff_factors.member and u.raw_app_meta_data ? 'staff_role';
  if not found then
    raise exception 'no member has this id' using errcode = 'P0002';
  end if;
  delete from auth.mfa_factors as f where f.user_id = remove_staff_factors.member;
  get diagnostics removed = row_count;
  delete from auth.sessions as s where s.user_id = remove_staff_factors.member;
  perform private.write_trail('change', 'staff', remove_staff_factors.member::text, address, jsonb_build_object('factors_removed', removed));
  return removed;
end $$;
comment on function public.remove_staff_factors(uuid) is
  'Removes the second factors of a member and signs the member out everywhere; returns how many there were. Owners and service_role only.';
revoke all on function public.remove_staff_factors(uuid) from public, anon, authenticated, service_role;
grant execute on function public.remove_staff_factors(uuid) to authenticated, service_role;
