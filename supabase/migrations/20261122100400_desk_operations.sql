-- The system page shows the functions and the version of the program when it opens, which is no action of the owner.
create or replace function public.trail_operation(name text) returns void
language plpgsql volatile security definer set search_path = ''
as $$
begin
  perform private.require_owner();
  if trail_operation.name not in ('doctor', 'backups', 'functions', 'version') then -- the page shows these whenever it opens
    perform private.write_trail('run', 'system', null, trail_operation.name);
  end if;
end $$;
