-- The names of pgaudit, without its work.

do $$
begin
  raise warning 'pgaudit is a placeholder on this server: statements are not audited';
end
$$;

-- Dumps grant these to other roles.
create function @extschema@.pgaudit_ddl_command_end() returns event_trigger language plpgsql as $$ begin end $$;
create function @extschema@.pgaudit_sql_drop() returns event_trigger language plpgsql as $$ begin end $$;
