-- The login role of Realtime. Not every release of supabase/postgres has it, and the owners below need it.
do $$
begin
  if not exists (select from pg_roles where rolname = 'supabase_realtime_admin') then
    create role supabase_realtime_admin noinherit;
  end if;
end
$$;
alter role supabase_realtime_admin login replication;
-- It switches to the role of a token.
grant authenticator to supabase_realtime_admin;
-- realtime.list_changes sets this parameter.
grant set on parameter log_min_messages to supabase_realtime_admin;
