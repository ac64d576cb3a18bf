-- Login roles of our services that the image does not have. roles.sql sets their passwords.

-- The service `transfer` reads and replaces the tables of these owners. It ignores row level security and fires no triggers.
do $$
begin
  if not exists (select from pg_roles where rolname = 'daawo_transfer') then
    create role daawo_transfer login bypassrls;
  end if;
end
$$;
grant postgres, supabase_auth_admin, supabase_storage_admin, pg_read_all_data to daawo_transfer;
grant set on parameter session_replication_role to daawo_transfer;
