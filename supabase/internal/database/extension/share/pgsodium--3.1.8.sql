do $$
begin
  raise warning 'pgsodium is a placeholder on this server: its functions do not exist'
    using hint = 'Secrets work with supabase_vault. For pgsodium itself, start the stack with --database-url on a Postgres that has it.';
end
$$;
