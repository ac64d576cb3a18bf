-- Open desks learn from private broadcasts that a report came or changed, or that a role or a session ended. The messages
-- have no content. Row changes of reports are no longer published: every holder of the public key could see when one came.
do $$
begin
  if exists (select from pg_publication_tables where pubname = 'supabase_realtime' and schemaname = 'public' and tablename = 'reports')
     and exists (select from pg_publication where pubname = 'supabase_realtime' and not puballtables
                  and pg_has_role(current_user, pubowner, 'usage')) then
    alter publication supabase_realtime drop table public.reports;
  end if;
end $$;

create function private.tell_reviewers() returns trigger
language plpgsql security definer set search_path = ''
as $$
begin
  perform realtime.send('{}', 'changed', 'reports', true);
  return null;
end $$;
comment on function private.tell_reviewers() is 'Tells open desks that reports changed; for triggers.';

-- Realtime checks the policies of the topics again when it reads this event.
create function private.tell_staff() returns trigger
language plpgsql security definer set search_path = ''
as $$
begin
  if tg_op = 'DELETE' then
    if not exists (select from gone) then
      return null;
    end if;
  end if;
  perform realtime.send('{}', 'policies_changed', 'staff', true);
  perform realtime.send('{}', 'policies_changed', 'reports', true);
  return null;
end $$;
comment on function private.tell_staff() is 'Tells open desks that a role or a session ended; for triggers.';
revoke all on function private.tell_reviewers(), private.tell_staff() from public;
grant execute on function private.tell_staff() to supabase_auth_admin;

create trigger reports_tell after insert or update or delete on public.reports
  for each statement execute function private.tell_reviewers();
create trigger staff_role_tell after update of raw_app_meta_data, banned_until, deleted_at on auth.users
  for each statement execute function private.tell_staff();
create trigger staff_account_tell after delete on auth.users
  referencing old table as gone for each statement execute function private.tell_staff();
create trigger staff_session_tell after delete on auth.sessions
  referencing old table as gone for each statement execute function private.tell_staff();

create policy "staff hear of changes" on realtime.messages for select to authenticated
  using (extension = 'broadcast' and case (select realtime.topic())
    when 'reports' then (select private.is_reviewer())
    when 'staff' then (select private.is_reviewer() or private.is_editor())
    else false end);
