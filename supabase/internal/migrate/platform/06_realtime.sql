-- Clients and migrations add tables to this publication. The embedded stack has
-- no realtime service, so nothing reads it.
do $$
begin
  if not exists (select from pg_publication where pubname = 'supabase_realtime') then
    create publication supabase_realtime;
    alter publication supabase_realtime owner to postgres;
  end if;
end
$$;
