-- The schemas of this program's own tables. They belong to supabase_admin and are created before the project's migrations:
-- other tools that reset a database drop the schemas of every other owner. The role postgres creates the tables in them.
do $$
declare
  wanted text;
begin
  foreach wanted in array array['river', 'edge_functions'] loop
    execute format('create schema if not exists %I', wanted);
  end loop;

  -- A superuser of another name has created the schemas of the services too. Schemas of extensions keep their owner.
  if current_setting('is_superuser') = 'on' then
    for wanted in
      select n.nspname
        from pg_namespace n
       where n.nspowner <> 'supabase_admin'::regrole
         and (n.nspname in ('river', 'edge_functions')
              or n.nspowner = (select oid from pg_roles where rolname = current_user)
                 and n.nspname in ('auth', 'storage', 'realtime', 'graphql_public', 'graphql', 'pgsodium', 'supabase_functions', 'daawo'))
         and not exists (select from pg_depend d where d.classid = 'pg_namespace'::regclass and d.objid = n.oid and d.deptype = 'e')
    loop
      execute format('alter schema %I owner to supabase_admin', wanted);
    end loop;
    -- After the change, which takes the rights of the owner before it away.
    grant all on schema river, edge_functions to postgres with grant option;
  end if;
end
$$;

comment on schema river is 'Background work. A job is added in the transaction that needs it.';
comment on schema edge_functions is 'Keys and counters of the edge functions, shared by all replicas.';
