-- A clock that was ahead and has been set right again must not keep clients out: what was counted further in the future than
-- a period lasts does not count.

create or replace function private.count_request(client text, name text, most integer, period interval) returns void
language plpgsql volatile
as $$
declare
  counted private.request_limits;
begin
  insert into private.request_limits as l (client, name)
  values (count_request.client, count_request.name)
  on conflict on constraint request_limits_pkey do update
    set requests = case when l.started_at > now() - period and l.started_at < now() + period then l.requests + 1 else 1 end,
        started_at = case when l.started_at > now() - period and l.started_at < now() + period then l.started_at else now() end
  returning * into counted;
  if counted.requests > most then
    raise sqlstate 'PT429' using
      message = 'Too many requests.',
      detail = greatest(1, ceil(extract(epoch from counted.started_at + period - now())))::bigint;
  end if;
end $$;
