-- A report, a resource, an account or a member that does not exist is 404, as PostgREST's codes PTnnn say. P0002, which the
-- functions raised before, is 500. Their grants, owners and comments stay.
do $$
declare
  definition text;
begin
  for definition in
    select pg_get_functiondef(p.oid) from pg_proc as p
     where p.pronamespace = 'public'::regnamespace and p.prosrc like '%errcode = ''P0002''%'
  loop
    execute replace(definition, 'errcode = ''P0002''', 'errcode = ''PT404''');
  end loop;
end $$;
