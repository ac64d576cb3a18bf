-- Realtime: the functions with which supabase/realtime checks and reads changes of rows. The engine decodes the write-ahead
-- log itself and does not call them; they are here for the real Realtime.

-- The JSON of a value of any type. Bytes keep their text: wal2json has encoded them already.
create or replace function realtime.cast(val text, type_ regtype) returns jsonb
  language plpgsql immutable
as $$
declare
  converted jsonb;
begin
  if type_ = 'bytea'::regtype then
    return to_jsonb(val);
  end if;
  execute format('select to_jsonb(cast(%L as %s))', val, type_) into converted;
  return converted;
end
$$;

-- Compares two values of a type. Clients of the first version have no negation.
create or replace function realtime.check_equality_op(op realtime.equality_op, type_ regtype, val_1 text, val_2 text) returns boolean
  language plpgsql immutable
as $$
declare
  operator text;
  holds boolean;
begin
  case op
    when 'eq' then operator := '=';
    when 'neq' then operator := '<>';
    when 'lt' then operator := '<';
    when 'lte' then operator := '<=';
    when 'gt' then operator := '>';
    when 'gte' then operator := '>=';
    when 'in' then operator := '= any';
    else raise exception 'unsupported equality operator: %', op;
  end case;
  execute format('select cast(%L as %s) %s (cast(%L as %s))',
    val_1, type_, operator, val_2, type_::text || case when op = 'in' then '[]' else '' end) into holds;
  return holds;
end
$$;

create or replace function realtime.check_equality_op(
  op realtime.equality_op, type_ regtype, val_1 text, val_2 text, negate boolean
) returns boolean
  language plpgsql stable
as $$
declare
  infix text;
  holds boolean;
begin
  case op
    when 'is' then
      if val_2 not in ('null', 'true', 'false', 'unknown') then
        raise exception 'invalid value for is filter: must be null, true, false, or unknown';
      end if;
      execute format('select cast(%L as %s) is %s', val_1, type_, val_2) into holds;
    when 'isdistinct' then
      execute format('select cast(%L as %s) is distinct from cast(%L as %2$s)', val_1, type_, val_2) into holds;
    when 'like', 'ilike', 'match', 'imatch' then
      infix := case op when 'like' then 'like' when 'ilike' then 'ilike' when 'match' then '~' else '~*' end;
      execute format('select cast(%L as %s) %s cast(%L as %2$s)', val_1, type_, infix, val_2) into holds;
    else
      holds := realtime.check_equality_op(op, type_, val_1, val_2);
  end case;
  return case when negate then not holds else holds end;
end
$$;

-- Whether all filters hold for a row. A filter on a column that the row does not have does not hold.
create or replace function realtime.is_visible_through_filters(
  columns realtime.wal_column[], filters realtime.user_defined_filter[]
) returns boolean
  language sql stable
as $$
  select coalesce(
    bool_and(c.name is not null and coalesce(realtime.check_equality_op(
      f.op, coalesce(c.type_oid::regtype, c.type_name::regtype), c.value #>> '{}', f.value, coalesce(f.negate, false)
    ), false)),
    true)
  from unnest(filters) as f
  left join unnest(columns) as c on c.name = f.column_name
$$;

-- SQL that prepares a statement: does the row with this primary key exist for the current role?
create or replace function realtime.build_prepared_statement_sql(
  prepared_statement_name text, entity regclass, columns realtime.wal_column[]
) returns text
  language sql
as $$
  select format('prepare %s as select exists (select from %s where %s)', prepared_statement_name, entity,
    string_agg(format('%I = %s', c.name, quote_nullable(c.value #>> '{}')), ' and '))
  from unnest(columns) as c
  where c.is_pkey
  having count(*) > 0
$$;

-- Names of tables in the options of wal2json.
create or replace function realtime.wal2json_escape_identifier(name text) returns text
  language sql immutable strict
as $$
  select regexp_replace(name, '[\\,.[:space:]]', '\\\&', 'g')
$$;

create or replace function realtime.quote_wal2json(entity regclass) returns text
  language sql immutable strict
as $$
  select realtime.wal2json_escape_identifier(n.nspname::text) || '.' || realtime.wal2json_escape_identifier(c.relname::text)
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where c.oid = entity
$$;
