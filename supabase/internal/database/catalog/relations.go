package catalog

import "daawo/supabase/internal/database/pool"

// visible is the condition on a relation c that information_schema has, too: the role owns it or
// may use it or a column of it.
const visible = `(pg_has_role(c.relowner, 'USAGE')
        or has_table_privilege(c.oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
        or has_any_column_privilege(c.oid, 'SELECT, INSERT, UPDATE, REFERENCES'))`

// columnRows selects the columns of relations, with more expressions of each. A domain has the type
// below it.
func columnRows(more string) string {
	return `
select c.oid::int8 as table_id, n.nspname as schema, c.relname as "table", c.oid || '.' || a.attnum as id,
       a.attnum as ordinal_position, a.attname as name, pg_get_expr(d.adbin, d.adrelid) as default_value,
       case when base.typelem <> 0 and base.typlen = -1 then 'ARRAY'
            when base.typnamespace = 'pg_catalog'::regnamespace then format_type(base.oid, null)
            else 'USER-DEFINED' end as data_type,
       base.typname as format, a.attidentity <> '' as is_identity,
       case a.attidentity when 'a' then 'ALWAYS' when 'd' then 'BY DEFAULT' end as identity_generation,
       a.attgenerated = 's' as is_generated, not (a.attnotnull or own.typtype = 'd' and own.typnotnull) as is_nullable,
       c.relkind in ('r', 'p') or c.relkind in ('v', 'f') and pg_column_is_updatable(c.oid, a.attnum, false)
         as is_updatable,
       coalesce(alone.is_unique, false) as is_unique, coalesce(enum.labels, '[]') as enums, alone."check",
       col_description(c.oid, a.attnum) as comment` + more + `
  from pg_attribute a
  join pg_class c on c.oid = a.attrelid
  join pg_namespace n on n.oid = c.relnamespace
  join pg_type own on own.oid = a.atttypid
  join pg_type base on base.oid = case own.typtype when 'd' then own.typbasetype else own.oid end
  left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
  left join (
    select enumtypid, json_agg(enumlabel order by enumsortorder)::jsonb as labels from pg_enum group by 1
  ) enum on enum.enumtypid = case base.typtype when 'e' then base.oid else base.typelem end
  left join (
    select k.conrelid, k.conkey[1] as number, bool_or(k.contype = 'u') as is_unique,
           (array_agg(pg_get_expr(k.conbin, k.conrelid, true) order by k.oid) filter (where k.contype = 'c'))[1] as "check"
      from pg_constraint k
     where k.contype in ('u', 'c') and cardinality(k.conkey) = 1
     group by 1, 2
  ) alone on alone.conrelid = c.oid and alone.number = a.attnum
 where a.attnum > 0 and not a.attisdropped and c.relkind in ('r', 'v', 'm', 'f', 'p')
   and not pg_is_other_temp_schema(n.oid)
   and (pg_has_role(c.relowner, 'USAGE')
        or has_column_privilege(c.oid, a.attnum, 'SELECT, INSERT, UPDATE, REFERENCES'))`
}

// typeSchema is the schema of a column's type.
const typeSchema = `,
       (select n.nspname from pg_namespace n where n.oid = base.typnamespace) as type_schema`

// Columns lists columns. IDs are "table.number".
func Columns(f Filter) pool.Statement {
	var s statement
	s.schemas(f, "n.nspname")
	if len(f.IDs) > 0 {
		s.where("c.oid || '.' || a.attnum = any (%s::text[])", array(f.IDs))
	}
	if f.Relation != "" {
		s.where("c.oid = %s::oid", f.Relation)
	}
	s.name("c.relname", f.Table)
	s.name("a.attname", f.Name)
	more := ""
	if f.Generator {
		more = typeSchema
	}
	return s.list(f, columnRows(more)+s.and()+"\n order by a.attrelid, a.attnum")
}

// relations returns a list of relations, with their columns if the Filter asks for them. rows
// selects from pg_class c and pg_namespace n and ends in a where clause.
func relations(f Filter, rows string) pool.Statement {
	var s statement
	s.schemas(f, "n.nspname")
	s.ids(f, "c.oid")
	s.name("c.relname", f.Name)
	rows += s.and() + "\n order by c.oid"
	if !f.Columns {
		return s.list(f, rows)
	}
	return s.list(f, `
with owned as (
  select a.table_id, json_agg(a order by a.ordinal_position) as columns from (`+columnRows("")+s.and()+`) a group by 1
)
select r.*, coalesce(owned.columns, '[]') as columns
  from (`+rows+`) r left join owned on owned.table_id = r.id
 order by r.id`)
}

// keysOf is the primary key of a table c, as JSON.
const keysOf = `
       (select coalesce(json_agg(json_build_object('schema', n.nspname, 'table_name', c.relname, 'name', a.attname,
                                                   'table_id', c.oid::int8) order by k.place), '[]')
          from pg_index i
          cross join unnest(i.indkey) with ordinality k (number, place)
          join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.number
         where i.indrelid = c.oid and i.indisprimary)`

// links are the foreign keys from and to each table, as JSON: an object for each pair of columns.
const links = `
  select ends.id, json_agg(json_build_object(
           'id', k.oid::int8, 'constraint_name', k.conname,
           'source_schema', sn.nspname, 'source_table_name', s.relname, 'source_column_name', sa.attname,
           'target_table_schema', tn.nspname, 'target_table_name', t.relname, 'target_column_name', ta.attname)
         order by k.oid, pair.place) as list
    from pg_constraint k
    cross join lateral (select k.conrelid union select k.confrelid) ends (id)
    cross join lateral unnest(k.conkey, k.confkey) with ordinality pair (source, target, place)
    join pg_class s on s.oid = k.conrelid join pg_namespace sn on sn.oid = s.relnamespace
    join pg_class t on t.oid = k.confrelid join pg_namespace tn on tn.oid = t.relnamespace
    join pg_attribute sa on sa.attrelid = s.oid and sa.attnum = pair.source
    join pg_attribute ta on ta.attrelid = t.oid and ta.attnum = pair.target
   where k.contype = 'f'
   group by ends.id`

// Tables lists tables and partitioned tables.
func Tables(f Filter) pool.Statement {
	return relations(f, `
select c.oid::int8 as id, n.nspname as schema, c.relname as name, c.relrowsecurity as rls_enabled,
       c.relforcerowsecurity as rls_forced,
       case c.relreplident when 'd' then 'DEFAULT' when 'i' then 'INDEX' when 'f' then 'FULL' else 'NOTHING' end
         as replica_identity,
       used.bytes, pg_size_pretty(used.bytes) as size, pg_stat_get_live_tuples(c.oid) as live_rows_estimate,
       pg_stat_get_dead_tuples(c.oid) as dead_rows_estimate, obj_description(c.oid, 'pg_class') as comment,`+keysOf+`
         as primary_keys, coalesce(linked.list, '[]') as relationships
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  cross join lateral (select pg_total_relation_size(c.oid) as bytes) used
  left join (`+links+`) linked on linked.id = c.oid
 where c.relkind in ('r', 'p') and not pg_is_other_temp_schema(n.oid) and `+visible)
}

// viewWrites are which rows a view takes, and whether an INSTEAD trigger or rule takes whole rows.
const viewWrites = `,
       pg_relation_is_updatable(c.oid, true) & 8 <> 0 as takes_insert,
       pg_relation_is_updatable(c.oid, true) & 4 <> 0 as takes_update,
       exists (select from pg_trigger t where t.tgrelid = c.oid and t.tgtype & 64 <> 0 and t.tgtype & 20 <> 0)
         or exists (select from pg_rewrite r where r.ev_class = c.oid and r.is_instead and r.ev_type in ('2', '3')
                       and r.ev_qual::text = '<>') as takes_whole_rows`

// Views lists views.
func Views(f Filter) pool.Statement {
	more := ""
	if f.Generator {
		more = viewWrites
	}
	return relations(f, `
select c.oid::int8 as id, n.nspname as schema, c.relname as name,
       pg_relation_is_updatable(c.oid, false) & 20 = 20 as is_updatable, obj_description(c.oid, 'pg_class') as comment`+
		more+`
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
 where c.relkind = 'v'`)
}

// MaterializedViews lists materialized views.
func MaterializedViews(f Filter) pool.Statement {
	return relations(f, `
select c.oid::int8 as id, n.nspname as schema, c.relname as name, c.relispopulated as is_populated,
       obj_description(c.oid, 'pg_class') as comment
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
 where c.relkind = 'm'`)
}

// ForeignTables lists foreign tables.
func ForeignTables(f Filter) pool.Statement {
	return relations(f, `
select c.oid::int8 as id, n.nspname as schema, c.relname as name, obj_description(c.oid, 'pg_class') as comment
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
 where c.relkind = 'f'`)
}

// Indexes lists indexes.
func Indexes(f Filter) pool.Statement {
	var s statement
	s.schemas(f, "n.nspname")
	s.ids(f, "i.indexrelid")
	return s.list(f, `
select i.indexrelid::int8 as id, i.indrelid::int8 as table_id, n.nspname as schema,
       i.indnatts as number_of_attributes, i.indnkeyatts as number_of_key_attributes, i.indisunique as is_unique,
       i.indisprimary as is_primary, i.indisexclusion as is_exclusion, i.indimmediate as is_immediate,
       i.indisclustered as is_clustered, i.indisvalid as is_valid, i.indcheckxmin as check_xmin,
       i.indisready as is_ready, i.indislive as is_live, i.indisreplident as is_replica_identity,
       array(select unnest(i.indkey)) as key_attributes, array(select unnest(i.indcollation)::int8) as collation,
       array(select unnest(i.indclass)::int8) as class, array(select unnest(i.indoption)) as options,
       pg_get_expr(i.indpred, i.indrelid) as index_predicate, obj_description(c.oid, 'pg_class') as comment,
       pg_get_indexdef(c.oid) as index_definition, m.amname as access_method,
       (select json_agg(json_build_object('attribute_number', a.attnum, 'attribute_name', a.attname,
                                          'data_type', format_type(a.atttypid, a.atttypmod)) order by a.attnum)
          from pg_attribute a where a.attrelid = c.oid) as index_attributes
  from pg_index i
  join pg_class c on c.oid = i.indexrelid
  join pg_namespace n on n.oid = c.relnamespace
  join pg_am m on m.oid = c.relam
 where true`+s.and()+`
 order by i.indexrelid`)
}

// ForeignKeys lists the foreign keys between relations, partitions left out. A key is
// one-to-one if its columns are the columns of a primary key or a unique constraint.
func ForeignKeys(f Filter) pool.Statement {
	var s statement
	s.schemas(f, "n.nspname")
	return s.list(f, `
select k.conname as foreign_key_name, n.nspname as schema, c.relname as relation, k.conrelid::int8 as relation_id,
       array(select a.attname from unnest(k.conkey) with ordinality p (number, place)
               join pg_attribute a on a.attrelid = k.conrelid and a.attnum = p.number order by p.place) as columns,
       k.conkey as numbers,
       exists (select from pg_constraint u where u.conrelid = k.conrelid and u.contype in ('p', 'u')
                  and u.conkey @> k.conkey and u.conkey <@ k.conkey) as is_one_to_one,
       fn.nspname as referenced_schema, f.relname as referenced_relation, k.confrelid::int8 as referenced_id,
       array(select a.attname from unnest(k.confkey) with ordinality p (number, place)
               join pg_attribute a on a.attrelid = k.confrelid and a.attnum = p.number order by p.place)
         as referenced_columns,
       k.confkey as referenced_numbers
  from pg_constraint k
  join pg_class c on c.oid = k.conrelid join pg_namespace n on n.oid = c.relnamespace
  join pg_class f on f.oid = k.confrelid join pg_namespace fn on fn.oid = f.relnamespace
 where k.contype = 'f' and k.conparentid = 0`+s.and()+`
 order by k.oid`)
}

// ViewQueries lists the stored query of each view with the names of its columns, for Origins.
func ViewQueries(f Filter) pool.Statement {
	var s statement
	s.schemas(f, "n.nspname")
	return s.list(f, `
select c.oid::int8 as id, n.nspname as schema, c.relname as name, r.ev_action::text as query,
       array(select a.attname from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 order by a.attnum) as columns
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  join pg_rewrite r on r.ev_class = c.oid and r.ev_type = '1'
 where c.relkind in ('v', 'm')`+s.and()+`
 order by c.oid`)
}
