-- Advice on indexes for a query, with the function of index_advisor 0.2.0.

-- Returns the generic plan of a query, whose parameters need no values.
create function @extschema@.index_advisor_plan(query text) returns jsonb
language plpgsql as $$
declare
  parameters int;
  plan       json;
begin
  if exists (select from pg_catalog.pg_prepared_statements p where p.name = 'index_advisor_statement') then
    deallocate index_advisor_statement;
  end if;
  execute 'prepare index_advisor_statement as ' || query;
  select cardinality(p.parameter_types) into parameters
    from pg_catalog.pg_prepared_statements p where p.name = 'index_advisor_statement';
  execute format('explain (verbose, format json) execute index_advisor_statement%s',
    case when parameters > 0 then '(' || rtrim(repeat('null,', parameters), ',') || ')' else '' end) into plan;
  deallocate index_advisor_statement;
  return plan::jsonb -> 0 -> 'Plan';
end
$$;

-- Explains the query with a hypothetical btree index on each column that it may filter or sort by, and returns the
-- statements of the indexes that the planner takes. An error of the query is in errors.
create function @extschema@.index_advisor(query text)
returns table (startup_cost_before jsonb, startup_cost_after jsonb, total_cost_before jsonb, total_cost_after jsonb,
  index_statements text[], errors text[])
language plpgsql volatile as $$
declare
  before    jsonb;
  after     jsonb;
  wanted    text[] := '{}';
  candidate record;
begin
  query := rtrim(regexp_replace(query, '\s+$', ''), ';');
  begin
    perform @extschema:hypopg@.hypopg_reset();
    perform set_config('plan_cache_mode', 'force_generic_plan', true);
    before := @extschema@.index_advisor_plan(query);
    for candidate in
      select c.oid::regclass as relation, a.attname as attribute
      from (
        select distinct (node ->> 'Schema')::name as nsp, (node ->> 'Relation Name')::name as rel
        from jsonb_path_query(before, '$.**') as node
        where jsonb_typeof(node) = 'object' and node ? 'Relation Name'
      ) r
      join pg_catalog.pg_namespace n on n.nspname = r.nsp
      join pg_catalog.pg_class c on c.relnamespace = n.oid and c.relname = r.rel and c.relkind in ('r', 'm', 'p')
      join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      where n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast')
        and query ~* ('\m' || regexp_replace(a.attname, '([^a-zA-Z0-9_])', '\\\1', 'g') || '\M')
        and exists (select from pg_catalog.pg_opclass o join pg_catalog.pg_am m on m.oid = o.opcmethod
          where m.amname = 'btree' and o.opcdefault and o.opcintype = a.atttypid
            or m.amname = 'btree' and o.opcdefault and a.atttypid in ('varchar'::regtype) and o.opcintype = 'text'::regtype)
        and not exists (select from pg_catalog.pg_index i where i.indrelid = c.oid and i.indkey[0] = a.attnum)
    loop
      perform @extschema:hypopg@.hypopg_create_index(
        format('create index on %s using btree (%I)', candidate.relation, candidate.attribute));
    end loop;
    after := @extschema@.index_advisor_plan(query);
    select coalesce(array_agg(distinct @extschema:hypopg@.hypopg_get_indexdef(h.indexrelid)), '{}') into wanted
    from @extschema:hypopg@.hypopg() h
    where h.indexname in (
      select node ->> 'Index Name' from jsonb_path_query(after, '$.**') as node
      where jsonb_typeof(node) = 'object' and node ? 'Index Name');
    perform @extschema:hypopg@.hypopg_reset();
  exception when others then
    return query select null::jsonb, null::jsonb, null::jsonb, null::jsonb, '{}'::text[], array[sqlerrm];
    return;
  end;
  return query select before -> 'Startup Cost', after -> 'Startup Cost', before -> 'Total Cost', after -> 'Total Cost',
    wanted, '{}'::text[];
end
$$;
