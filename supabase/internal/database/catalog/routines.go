package catalog

import "daawo/supabase/internal/database/pool"

// Functions lists functions. Aggregates, window functions and procedures are not in it.
func Functions(f Filter) pool.Statement {
	var s statement
	s.schemas(f, "n.nspname")
	s.ids(f, "p.oid")
	s.name("p.proname", f.Name)
	return s.list(f, `
select p.oid::int8 as id, n.nspname as schema, p.proname as name, l.lanname as language,
       case l.lanname when 'internal' then '' else p.prosrc end as definition,
       case l.lanname when 'internal' then p.prosrc else pg_get_functiondef(p.oid) end as complete_statement,
       (select coalesce(json_agg(json_build_object('mode', a.mode, 'name', a.name, 'type_id', a.type::int8,
                 'has_default', case when a.mode in ('in', 'inout', 'variadic')
                                     then a.inputs > p.pronargs - p.pronargdefaults end) order by a.place), '[]')
          from (select t.type, t.place, m.mode, coalesce(p.proargnames[t.place], '') as name,
                       count(*) filter (where m.mode in ('in', 'inout', 'variadic')) over (order by t.place) as inputs
                  from unnest(coalesce(p.proallargtypes, p.proargtypes)) with ordinality t (type, place)
                  cross join lateral (
                    select case coalesce(p.proargmodes[t.place], 'i') when 'i' then 'in' when 'o' then 'out'
                                when 'b' then 'inout' when 'v' then 'variadic' else 'table' end) m (mode)) a) as args,
       pg_get_function_arguments(p.oid) as argument_types,
       pg_get_function_identity_arguments(p.oid) as identity_argument_types,
       p.prorettype::int8 as return_type_id, pg_get_function_result(p.oid) as return_type,
       nullif(r.typrelid, 0)::int8 as return_type_relation_id, p.proretset as is_set_returning_function,
       case when p.proretset then nullif(p.prorows, 0) end as prorows,
       case p.provolatile when 'i' then 'IMMUTABLE' when 's' then 'STABLE' else 'VOLATILE' end as behavior,
       p.prosecdef as security_definer,
       (select jsonb_object_agg(split_part(c, '=', 1), substr(c, strpos(c, '=') + 1))
          from unnest(p.proconfig) c) as config_params
  from pg_proc p
  join pg_namespace n on n.oid = p.pronamespace
  join pg_language l on l.oid = p.prolang
  join pg_type r on r.oid = p.prorettype
 where p.prokind = 'f'`+s.and()+`
 order by p.oid`)
}

// Triggers lists triggers that were made by statements.
func Triggers(f Filter) pool.Statement {
	var s statement
	s.schemas(f, "n.nspname")
	s.ids(f, "t.oid")
	s.name("c.relname", f.Table)
	s.name("t.tgname", f.Name)
	return s.list(f, `
select t.oid::int8 as id, c.oid::int8 as table_id,
       case t.tgenabled when 'D' then 'DISABLED' when 'O' then 'ORIGIN' when 'R' then 'REPLICA' else 'ALWAYS' end
         as enabled_mode,
       (string_to_array(encode(t.tgargs, 'escape'), '\000'))[:t.tgnargs] as function_args, t.tgname as name,
       c.relname as "table", n.nspname as schema,
       substring(pg_get_triggerdef(t.oid) from ' WHEN \((.*)\) EXECUTE FUNCTION ') as condition,
       case when t.tgtype & 1 = 1 then 'ROW' else 'STATEMENT' end as orientation,
       case t.tgtype & 66 when 2 then 'BEFORE' when 64 then 'INSTEAD OF' else 'AFTER' end as activation,
       array(select e.name from (values (4, 'INSERT'), (8, 'DELETE'), (16, 'UPDATE'), (32, 'TRUNCATE')) e (bit, name)
              where t.tgtype & e.bit = e.bit) as events,
       p.proname as function_name, pn.nspname as function_schema
  from pg_trigger t
  join pg_class c on c.oid = t.tgrelid
  join pg_namespace n on n.oid = c.relnamespace
  join pg_proc p on p.oid = t.tgfoid
  join pg_namespace pn on pn.oid = p.pronamespace
 where not t.tgisinternal and not pg_is_other_temp_schema(n.oid) and `+visible+s.and()+`
 order by t.oid`)
}

// Types lists types.
func Types(f Filter) pool.Statement {
	var s statement
	s.schemas(f, "n.nspname")
	s.ids(f, "t.oid")
	kinds := "'c'"
	if f.TableTypes {
		kinds = "'c', 'r', 'v', 'm', 'p'"
	}
	if !f.ArrayTypes {
		s.where("not exists (select from pg_type element where element.oid = t.typelem and element.typarray = t.oid)")
	}
	return s.list(f, `
select t.oid::int8 as id, t.typname as name, n.nspname as schema, format_type(t.oid, null) as format,
       array(select e.enumlabel from pg_enum e where e.enumtypid = t.oid order by e.enumsortorder) as enums,
       (select coalesce(json_agg(json_build_object('name', a.attname, 'type_id', a.atttypid::int8) order by a.attnum),
                        '[]')
          from pg_attribute a
         where c.relkind = 'c' and a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as attributes,
       obj_description(t.oid, 'pg_type') as comment, nullif(t.typrelid, 0)::int8 as type_relation_id
  from pg_type t
  join pg_namespace n on n.oid = t.typnamespace
  left join pg_class c on c.oid = t.typrelid
 where (t.typrelid = 0 or c.relkind in (`+kinds+`))`+s.and()+`
 order by t.oid`)
}
