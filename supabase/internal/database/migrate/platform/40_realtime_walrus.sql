-- Realtime: the check of subscriptions, and who may see a change. The real Realtime calls them.

-- Refuses subscriptions that could fail later, while the write-ahead log is read.
create or replace function realtime.subscription_check_filters() returns trigger
  language plpgsql
as $$
declare
  readable text[];
  condition realtime.user_defined_filter;
  type_ regtype;
  wanted text;
begin
  select coalesce(array_agg(a.attname::text), '{}') into readable
  from pg_attribute a
  where a.attrelid = new.entity and a.attnum > 0 and not a.attisdropped
    and has_column_privilege(new.claims ->> 'role', a.attrelid, a.attnum, 'select');

  foreach condition in array new.filters loop
    if condition.column_name is null or condition.column_name <> all (readable) then
      raise exception 'invalid column for filter %', condition.column_name;
    end if;
    select a.atttypid into type_ from pg_attribute a where a.attrelid = new.entity and a.attname = condition.column_name;
    if type_ is null then
      raise exception 'failed to lookup type for column %', condition.column_name;
    end if;
    case
      when condition.op = 'in' then
        if jsonb_array_length(realtime.cast(condition.value, (type_::text || '[]')::regtype)) > 100 then
          raise exception 'too many values for `in` filter. Maximum 100';
        end if;
      when condition.op = 'is' then
        if condition.value not in ('null', 'true', 'false', 'unknown') then
          raise exception 'invalid value for is filter: must be null, true, false, or unknown';
        end if;
        if condition.value <> 'null' and type_ <> 'boolean'::regtype then
          raise exception 'is % filter requires a boolean column, got %', condition.value, type_;
        end if;
      when condition.op in ('like', 'ilike') then
        if not exists (select from pg_operator o where o.oprname = '~~' and o.oprleft = type_) then
          raise exception 'operator % requires a text-compatible column type, got %', condition.op, type_;
        end if;
      when condition.op in ('match', 'imatch') then
        if not exists (
          select from pg_operator o
          where o.oprname = case condition.op when 'match' then '~' else '~*' end
            and o.oprleft = type_ and o.oprright = type_ and o.oprresult = 'boolean'::regtype
        ) then
          raise exception 'operator % requires a text-compatible column type, got %', condition.op, type_;
        end if;
        begin
          perform regexp_like('', condition.value);
        exception when others then
          raise exception 'invalid regular expression for % filter: %', condition.op, sqlerrm;
        end;
      else
        perform realtime.cast(condition.value, type_);
    end case;
  end loop;

  foreach wanted in array coalesce(new.selected_columns, '{}') loop
    if wanted is null or wanted <> all (readable) then
      raise exception 'invalid column for select %', wanted;
    end if;
  end loop;

  -- One order, so that the unique index finds equal subscriptions.
  new.filters := array(select f from unnest(new.filters) f order by f.column_name, f.op, f.value, f.negate);
  if new.selected_columns is not null then
    new.selected_columns := array(select c from unnest(new.selected_columns) c order by c); -- none: the primary key only
  end if;
  return new;
end
$$;

-- The messages of one change, one per role and selection of columns, each with the subscriptions that may get it.
-- wal is a change as wal2json writes it in format 2.
create or replace function realtime.apply_rls(wal jsonb, max_record_bytes integer default (1024 * 1024))
  returns setof realtime.wal_rls
  language plpgsql
as $$
declare
  relation constant regclass := format('%I.%I', wal ->> 'schema', wal ->> 'table');
  kind constant realtime.action := case wal ->> 'action' when 'I' then 'INSERT' when 'U' then 'UPDATE' when 'D' then 'DELETE' else 'ERROR' end;
  secured constant boolean := (select c.relrowsecurity from pg_class c where c.oid = relation);
  too_large constant boolean := octet_length(wal::text) > max_record_bytes;
  key_names constant text[] := array(select k ->> 'name' from jsonb_array_elements(wal -> 'pk') k);
  head constant jsonb := jsonb_build_object('schema', wal ->> 'schema', 'table', wal ->> 'table', 'type', kind);
  subscriptions realtime.subscription[];
  after_ realtime.wal_column[];
  before_ realtime.wal_column[];
  reader regrole;
  candidate record;
  selection record;
  allowed boolean;
  visible uuid[];
  refusal text;
  body jsonb;
begin
  perform set_config('role', null, true);

  select array_agg(s) into subscriptions
  from realtime.subscription s
  where s.entity = relation and s.action_filter in ('*', kind::text);

  for reader in select distinct s.claims_role from unnest(subscriptions) s order by 1 loop
    -- The values of both sides, and which columns the role may read.
    select
      array_agg(v.col) filter (where v.side = 'columns'), array_agg(v.col) filter (where v.side = 'identity')
    into after_, before_
    from (
      select sides.side, row(
        x ->> 'name', x ->> 'type', x ->> 'typeoid',
        realtime.cast(x ->> 'value', coalesce((x ->> 'typeoid')::oid::regtype, (x ->> 'type')::regtype)),
        x ->> 'name' = any (key_names), has_column_privilege(reader, relation, x ->> 'name', 'select')
      )::realtime.wal_column as col
      from (values ('columns'), ('identity')) as sides (side), jsonb_array_elements(wal -> sides.side) as x
    ) v;

    refusal := null;
    if kind <> 'DELETE' then
      select case
        when count(*) = 0 then 'Error 400: Bad Request, no primary key'
        when not bool_and(c.is_selectable) then 'Error 401: Unauthorized'
      end into refusal
      from unnest(after_) c where c.is_pkey;
    end if;

    visible := '{}';
    if refusal is null then
      if secured and kind <> 'DELETE' then
        if exists (select from pg_prepared_statements where name = 'walrus_rls_stmt') then
          deallocate walrus_rls_stmt;
        end if;
        execute realtime.build_prepared_statement_sql('walrus_rls_stmt', relation, after_);
      end if;
      -- An array, not a cursor: the role changes inside the loop.
      for candidate in
        select s.subscription_id, s.claims
        from unnest(array(
          select s from unnest(subscriptions) s
          where s.claims_role = reader and (
            realtime.is_visible_through_filters(after_, s.filters)
            or kind = 'DELETE' and realtime.is_visible_through_filters(before_, s.filters)
          )
        )) s
      loop
        allowed := true;
        if secured and kind <> 'DELETE' then
          perform set_config('request.jwt.claims', candidate.claims::text, true),
                  set_config('role', (select r.rolname from pg_roles r where r.oid = reader), true);
          execute 'execute walrus_rls_stmt' into allowed;
          perform set_config('role', null, true);
        end if;
        if allowed then
          visible := visible || candidate.subscription_id;
        end if;
      end loop;
    end if;

    for selection in
      select s.selected_columns as names, array_agg(s.subscription_id) as ids
      from unnest(subscriptions) s
      where s.claims_role = reader
      group by s.selected_columns
      order by coalesce(array_to_string(s.selected_columns, ','), '')
    loop
      if refusal is not null then
        return next row(head, secured, selection.ids, array[refusal])::realtime.wal_rls;
        continue;
      end if;
      body := head || jsonb_build_object(
        'commit_timestamp', to_char((wal ->> 'timestamp')::timestamptz at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
        'columns', (
          select jsonb_agg(jsonb_build_object('name', a.attname, 'type', t.typname) order by a.attnum)
          from pg_attribute a
          join pg_type t on t.oid = a.atttypid
          left join pg_constraint k on k.conrelid = a.attrelid and k.contype = 'p' and a.attnum = any (k.conkey)
          where a.attrelid = relation and a.attnum > 0 and has_column_privilege(reader, relation, a.attname, 'select')
            and (selection.names is null or a.attname = any (selection.names) or k.oid is not null)
        )
      );
      if kind in ('INSERT', 'UPDATE') then
        -- A large value that did not change is only in the old row.
        body := body || jsonb_build_object('record', (
          select jsonb_object_agg(coalesce(n.name, o.name), case when n.name is null then o.value else n.value end)
          from unnest(after_) n full join unnest(before_) o on o.name = n.name
          where coalesce(n.is_selectable, o.is_selectable)
            and (selection.names is null or coalesce(n.name, o.name) = any (selection.names) or coalesce(n.is_pkey, o.is_pkey))
            and (not too_large or octet_length(n.value::text) <= 64)
        ));
      end if;
      if kind in ('UPDATE', 'DELETE') then
        -- Policies cannot be applied to a deleted row, so its subscribers get the primary key only.
        body := body || jsonb_build_object('old_record', (
          select jsonb_object_agg(o.name, o.value)
          from unnest(before_) o
          where o.is_selectable and (selection.names is null or o.name = any (selection.names) or o.is_pkey)
            and (not too_large or octet_length(o.value::text) <= 64)
            and (kind = 'UPDATE' or not secured or o.is_pkey)
        ));
      end if;
      return next row(
        body, secured, array(select unnest(selection.ids) intersect all select unnest(visible)),
        case when too_large then array['Error 413: Payload Too Large'] else '{}' end
      )::realtime.wal_rls;
    end loop;
  end loop;
  perform set_config('role', null, true);
end
$$;

-- The messages of the changes that a slot of wal2json has since the last call, and their number before the checks.
create or replace function realtime.list_changes(publication name, slot_name name, max_changes integer, max_record_bytes integer)
  returns table (wal jsonb, is_rls_enabled boolean, subscription_ids uuid[], errors text[], slot_changes_count bigint)
  language sql
  set log_min_messages to 'fatal'
as $$
  with published as (
    select
      concat_ws(',', case when p.pubinsert then 'insert' end, case when p.pubupdate then 'update' end, case when p.pubdelete then 'delete' end) as actions,
      coalesce((
        select string_agg(realtime.quote_wal2json(format('%I.%I', t.schemaname, t.tablename)::regclass), ',')
        from pg_publication_tables t where t.pubname = p.pubname
      ), '') as tables
    from pg_publication p
    where p.pubname = publication
  ), taken as materialized ( -- reads the slot once
    select c.data::jsonb as change
    from published p, pg_logical_slot_get_changes(
      slot_name, null, max_changes,
      'format-version', '2', 'include-transaction', 'false', 'include-pk', 'true', 'include-timestamp', 'true',
      'include-type-oids', 'true', 'actions', p.actions, 'add-tables', p.tables
    ) c
    where p.tables <> ''
  ), total as (
    select count(*) as n from taken
  ), checked as (
    select r.* from taken, realtime.apply_rls(taken.change, max_record_bytes) r where cardinality(r.subscription_ids) > 0
  )
  select c.wal, c.is_rls_enabled, c.subscription_ids, c.errors, total.n from checked c, total
  union all
  select null, null, null, null, total.n from total where not exists (select from checked)
$$;

do $$
declare
  f text;
begin
  foreach f in array array[
    'cast(text, regtype)', 'check_equality_op(realtime.equality_op, regtype, text, text)',
    'check_equality_op(realtime.equality_op, regtype, text, text, boolean)',
    'is_visible_through_filters(realtime.wal_column[], realtime.user_defined_filter[])',
    'build_prepared_statement_sql(text, regclass, realtime.wal_column[])', 'wal2json_escape_identifier(text)',
    'quote_wal2json(regclass)', 'subscription_check_filters()', 'apply_rls(jsonb, integer)',
    'list_changes(name, name, integer, integer)'
  ] loop
    execute format('alter function realtime.%s owner to supabase_realtime_admin', f);
    execute format('grant execute on function realtime.%s to postgres, dashboard_user', f);
    if f !~ '^(wal2json|list_changes)' then
      execute format('grant execute on function realtime.%s to anon, authenticated, service_role', f);
    end if;
  end loop;
end
$$;

create or replace trigger tr_check_filters before insert or update on realtime.subscription
  for each row execute function realtime.subscription_check_filters();
