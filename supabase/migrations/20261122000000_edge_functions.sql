-- The stack keeps the secret keys, salts and counters of functions in its own schema edge_functions. The keys move there with
-- their values: they recognise repeated reports. The old tables stay until every replica runs this version.
do $$
begin
  if to_regclass('edge_functions.secrets') is not null then
    insert into edge_functions.secrets (name, value) select name, value from private.secrets on conflict (name) do nothing;
  end if;
end $$;
