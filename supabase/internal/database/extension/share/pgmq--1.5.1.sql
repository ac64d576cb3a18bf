-- Message queues with the functions of pgmq 1.5. A queue is the table pgmq.q_<name>; its archive is pgmq.a_<name>. They belong
-- to the role that created the queue, and not to the extension, so pg_dump includes them with their messages.

create table pgmq.meta (
  queue_name     varchar unique not null,
  is_partitioned boolean not null,
  is_unlogged    boolean not null,
  created_at     timestamptz not null default now()
);

create type pgmq.message_record as (
  msg_id bigint, read_ct integer, enqueued_at timestamptz, vt timestamptz, message jsonb, headers jsonb
);
create type pgmq.queue_record as (
  queue_name varchar, is_partitioned boolean, is_unlogged boolean, created_at timestamptz
);
create type pgmq.metrics_result as (
  queue_name text, queue_length bigint, newest_msg_age_sec integer, oldest_msg_age_sec integer,
  total_messages bigint, scrape_time timestamptz, queue_visible_length bigint
);

create function pgmq.format_table_name(queue_name text, prefix text) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  if queue_name ~ '\$|;|--|''' then
    raise exception 'queue name contains invalid characters: $, ;, --, or \''';
  end if;
  return lower(prefix || '_' || queue_name);
end
$$;

create function pgmq.validate_queue_name(queue_name text) returns void
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  if length(queue_name) > 47 then
    raise exception 'queue name is too long, maximum length is 47 characters';
  end if;
end
$$;

create function pgmq.acquire_queue_lock(queue_name text) returns void
language sql set search_path = pg_catalog, pg_temp as $$
  select pg_advisory_xact_lock(hashtext('pgmq.queue_' || queue_name))
$$;

-- Creating and dropping queues.

create function pgmq._create(queue_name text, unlogged boolean) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  q text := pgmq.format_table_name(queue_name, 'q');
  a text := pgmq.format_table_name(queue_name, 'a');
begin
  if queue_name is null or queue_name = '' then
    raise exception 'queue name is missing';
  end if;
  perform pgmq.validate_queue_name(queue_name);
  perform pgmq.acquire_queue_lock(queue_name);
  if to_regclass(format('pgmq.%I', q)) is null then
    execute format('create %s table pgmq.%I (
        msg_id      bigint primary key generated always as identity,
        read_ct     integer not null default 0,
        enqueued_at timestamptz not null default now(),
        vt          timestamptz not null,
        message     jsonb,
        headers     jsonb
      )', case when unlogged then 'unlogged' else '' end, q);
  end if;
  if to_regclass(format('pgmq.%I', a)) is null then
    execute format('create table pgmq.%I (
        msg_id      bigint primary key,
        read_ct     integer not null default 0,
        enqueued_at timestamptz not null default now(),
        archived_at timestamptz not null default now(),
        vt          timestamptz not null,
        message     jsonb,
        headers     jsonb
      )', a);
  end if;
  if to_regclass(format('pgmq.%I', q || '_vt_idx')) is null then
    execute format('create index %I on pgmq.%I (vt asc)', q || '_vt_idx', q);
  end if;
  if to_regclass(format('pgmq.%I', 'archived_at_idx_' || queue_name)) is null then
    execute format('create index %I on pgmq.%I (archived_at)', 'archived_at_idx_' || queue_name, a);
  end if;
  insert into pgmq.meta (queue_name, is_partitioned, is_unlogged) values (_create.queue_name, false, unlogged)
  on conflict do nothing;
end
$$;

create function pgmq.create_non_partitioned(queue_name text) returns void
language sql set search_path = pg_catalog, pg_temp as $$ select pgmq._create(queue_name, false) $$;

create function pgmq.create(queue_name text) returns void
language sql set search_path = pg_catalog, pg_temp as $$ select pgmq._create(queue_name, false) $$;

create function pgmq.create_unlogged(queue_name text) returns void
language sql set search_path = pg_catalog, pg_temp as $$ select pgmq._create(queue_name, true) $$;

create function pgmq.create_partitioned(
  queue_name text, partition_interval text default '10000', retention_interval text default '100000'
) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  raise notice 'queue % is not partitioned: this server has no pg_partman, so nothing deletes old messages', queue_name;
  perform pgmq._create(queue_name, false);
end
$$;

create function pgmq.convert_archive_partitioned(
  table_name text, partition_interval text default '10000', retention_interval text default '100000',
  leading_partition integer default 10
) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  raise notice 'the archive of queue % stays as it is: this server has no pg_partman', table_name;
end
$$;

create function pgmq.detach_archive(queue_name text) returns void
language sql set search_path = pg_catalog, pg_temp as $$ select $$;

create function pgmq.drop_queue(queue_name text) returns boolean
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  q text := pgmq.format_table_name(queue_name, 'q');
  a text := pgmq.format_table_name(queue_name, 'a');
begin
  perform pgmq.acquire_queue_lock(queue_name);
  if to_regclass(format('pgmq.%I', q)) is null then
    raise notice 'pgmq queue `%` does not exist', queue_name;
    return false;
  end if;
  execute format('drop table pgmq.%I', q);
  execute format('drop table if exists pgmq.%I', a);
  delete from pgmq.meta m where m.queue_name = drop_queue.queue_name;
  return true;
end
$$;

create function pgmq.drop_queue(queue_name text, partitioned boolean) returns boolean
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  raise warning 'drop_queue(queue_name, partitioned) is deprecated and will be removed in PGMQ v2.0. Use drop_queue(queue_name) instead';
  perform pgmq.drop_queue(queue_name);
  return true;
end
$$;

create function pgmq.purge_queue(queue_name text) returns bigint
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  q       text := pgmq.format_table_name(queue_name, 'q');
  deleted bigint;
begin
  -- The lock comes before the count, so the count is that of the deleted messages.
  execute format('lock table pgmq.%I in access exclusive mode', q);
  execute format('select count(*) from pgmq.%I', q) into deleted;
  execute format('truncate table pgmq.%I', q);
  return deleted;
end
$$;

create function pgmq.list_queues() returns setof pgmq.queue_record
language sql stable set search_path = pg_catalog, pg_temp as $$
  select queue_name, is_partitioned, is_unlogged, created_at from pgmq.meta
$$;

-- Sending.

create function pgmq.send(queue_name text, msg jsonb, headers jsonb, delay timestamptz) returns setof bigint
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  return query execute format('insert into pgmq.%I (vt, message, headers) values ($1, $2, $3) returning msg_id',
    pgmq.format_table_name(queue_name, 'q')) using delay, msg, headers;
end
$$;

create function pgmq.send(queue_name text, msg jsonb) returns setof bigint
language sql set search_path = pg_catalog, pg_temp as $$
  select * from pgmq.send(queue_name, msg, null::jsonb, clock_timestamp())
$$;

create function pgmq.send(queue_name text, msg jsonb, headers jsonb) returns setof bigint
language sql set search_path = pg_catalog, pg_temp as $$
  select * from pgmq.send(queue_name, msg, headers, clock_timestamp())
$$;

create function pgmq.send(queue_name text, msg jsonb, delay integer) returns setof bigint
language sql set search_path = pg_catalog, pg_temp as $$
  select * from pgmq.send(queue_name, msg, null::jsonb, clock_timestamp() + make_interval(secs => delay))
$$;

create function pgmq.send(queue_name text, msg jsonb, delay timestamptz) returns setof bigint
language sql set search_path = pg_catalog, pg_temp as $$
  select * from pgmq.send(queue_name, msg, null::jsonb, delay)
$$;

create function pgmq.send(queue_name text, msg jsonb, headers jsonb, delay integer) returns setof bigint
language sql set search_path = pg_catalog, pg_temp as $$
  select * from pgmq.send(queue_name, msg, headers, clock_timestamp() + make_interval(secs => delay))
$$;

create function pgmq.send_batch(queue_name text, msgs jsonb[], headers jsonb[], delay timestamptz) returns setof bigint
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  return query execute format('
    insert into pgmq.%I (vt, message, headers)
    select $1, b.message, b.header
      from unnest($2, $3) with ordinality as b (message, header, place)
     where b.place <= cardinality($2)
     order by b.place
    returning msg_id', pgmq.format_table_name(queue_name, 'q')) using delay, msgs, headers;
end
$$;

create function pgmq.send_batch(queue_name text, msgs jsonb[]) returns setof bigint
language sql set search_path = pg_catalog, pg_temp as $$
  select * from pgmq.send_batch(queue_name, msgs, null::jsonb[], clock_timestamp())
$$;

create function pgmq.send_batch(queue_name text, msgs jsonb[], headers jsonb[]) returns setof bigint
language sql set search_path = pg_catalog, pg_temp as $$
  select * from pgmq.send_batch(queue_name, msgs, headers, clock_timestamp())
$$;

create function pgmq.send_batch(queue_name text, msgs jsonb[], delay integer) returns setof bigint
language sql set search_path = pg_catalog, pg_temp as $$
  select * from pgmq.send_batch(queue_name, msgs, null::jsonb[], clock_timestamp() + make_interval(secs => delay))
$$;

create function pgmq.send_batch(queue_name text, msgs jsonb[], delay timestamptz) returns setof bigint
language sql set search_path = pg_catalog, pg_temp as $$
  select * from pgmq.send_batch(queue_name, msgs, null::jsonb[], delay)
$$;

create function pgmq.send_batch(queue_name text, msgs jsonb[], headers jsonb[], delay integer) returns setof bigint
language sql set search_path = pg_catalog, pg_temp as $$
  select * from pgmq.send_batch(queue_name, msgs, headers, clock_timestamp() + make_interval(secs => delay))
$$;

-- Reading. vt is how many seconds the message stays hidden from other readers.

create function pgmq.read(queue_name text, vt integer, qty integer, conditional jsonb default '{}'::jsonb)
returns setof pgmq.message_record
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  q text := pgmq.format_table_name(queue_name, 'q');
begin
  return query execute format('
    with chosen as materialized (
      select msg_id from pgmq.%1$I
       where vt <= clock_timestamp() and ($3 = ''{}''::jsonb or message @> $3)
       order by msg_id limit $2 for update skip locked
    ), hidden as (
      update pgmq.%1$I m set vt = clock_timestamp() + $1, read_ct = read_ct + 1
        from chosen where m.msg_id = chosen.msg_id
      returning m.msg_id, m.read_ct, m.enqueued_at, m.vt, m.message, m.headers
    )
    select * from hidden order by msg_id', q) using make_interval(secs => vt), qty, conditional;
end
$$;

create function pgmq.read_with_poll(
  queue_name text, vt integer, qty integer, max_poll_seconds integer default 5, poll_interval_ms integer default 100,
  conditional jsonb default '{}'::jsonb
) returns setof pgmq.message_record
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  until timestamptz := clock_timestamp() + make_interval(secs => max_poll_seconds);
begin
  while clock_timestamp() < until loop
    return query select * from pgmq.read(queue_name, vt, qty, conditional);
    exit when found;
    perform pg_sleep(poll_interval_ms / 1000.0);
  end loop;
end
$$;

create function pgmq.pop(queue_name text) returns setof pgmq.message_record
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  q text := pgmq.format_table_name(queue_name, 'q');
begin
  return query execute format('
    with chosen as materialized (
      select msg_id from pgmq.%1$I where vt <= clock_timestamp() order by msg_id limit 1 for update skip locked
    )
    delete from pgmq.%1$I where msg_id in (select msg_id from chosen)
    returning msg_id, read_ct, enqueued_at, vt, message, headers', q);
end
$$;

create function pgmq.set_vt(queue_name text, msg_id bigint, vt integer) returns setof pgmq.message_record
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  return query execute format('
    update pgmq.%I m set vt = clock_timestamp() + $1 where m.msg_id = $2
    returning m.msg_id, m.read_ct, m.enqueued_at, m.vt, m.message, m.headers',
    pgmq.format_table_name(queue_name, 'q')) using make_interval(secs => vt), msg_id;
end
$$;

create function pgmq.delete(queue_name text, msg_ids bigint[]) returns setof bigint
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  return query execute format('delete from pgmq.%I where msg_id = any ($1) returning msg_id',
    pgmq.format_table_name(queue_name, 'q')) using msg_ids;
end
$$;

create function pgmq.delete(queue_name text, msg_id bigint) returns boolean
language sql set search_path = pg_catalog, pg_temp as $$
  select exists (select from pgmq.delete(queue_name, array[msg_id]))
$$;

create function pgmq.archive(queue_name text, msg_ids bigint[]) returns setof bigint
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  return query execute format('
    with gone as (
      delete from pgmq.%I where msg_id = any ($1) returning msg_id, vt, read_ct, enqueued_at, message, headers
    )
    insert into pgmq.%I (msg_id, vt, read_ct, enqueued_at, message, headers)
    select msg_id, vt, read_ct, enqueued_at, message, headers from gone
    returning msg_id',
    pgmq.format_table_name(queue_name, 'q'), pgmq.format_table_name(queue_name, 'a')) using msg_ids;
end
$$;

create function pgmq.archive(queue_name text, msg_id bigint) returns boolean
language sql set search_path = pg_catalog, pg_temp as $$
  select exists (select from pgmq.archive(queue_name, array[msg_id]))
$$;

create function pgmq.metrics(queue_name text) returns pgmq.metrics_result
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  q      text := pgmq.format_table_name(queue_name, 'q');
  result pgmq.metrics_result;
begin
  execute format('
    select $1, count(*), extract(epoch from now() - max(enqueued_at))::integer,
           extract(epoch from now() - min(enqueued_at))::integer,
           (select case when is_called then last_value else 0 end from pgmq.%I),
           now(), count(*) filter (where vt <= now())
      from pgmq.%I', q || '_msg_id_seq', q) using queue_name into result;
  return result;
end
$$;

create function pgmq.metrics_all() returns setof pgmq.metrics_result
language sql set search_path = pg_catalog, pg_temp as $$
  select m.* from pgmq.meta q, lateral pgmq.metrics(q.queue_name) m
$$;

do $$
declare
  role text;
begin
  for role in
    select rolname from pg_roles where rolname in ('postgres', (parse_ident('@extowner@'))[1])
  loop
    execute format('grant usage, create on schema pgmq to %I with grant option', role);
    execute format('grant all on pgmq.meta to %I with grant option', role);
  end loop;
end
$$;
grant usage on schema pgmq to pg_monitor;
grant select on pgmq.meta to pg_monitor;

select pg_extension_config_dump('pgmq.meta', '');
