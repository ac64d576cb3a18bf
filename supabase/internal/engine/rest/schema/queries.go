package schema

// These statements read the catalogue. $1 is always the array of exposed schemas.

// domainsSQL resolves domains, including domains over domains, to their base types.
const domainsSQL = `
with recursive domains (oid, base) as (
  select oid, typbasetype from pg_type where typtype = 'd'
  union all
  select domains.oid, t.typbasetype from domains join pg_type t on t.oid = domains.base and t.typtype = 'd'
), bases as (
  select domains.oid, t.oid as base, t.typnamespace as namespace
    from domains join pg_type t on t.oid = domains.base and t.typtype <> 'd'
)`

// tablesSQL returns one row per relation, with its columns as one JSON document. Go decodes this
// faster than one row per column.
const tablesSQL = domainsSQL + `, enums as (
  select enumtypid, json_agg(enumlabel order by enumsortorder) as labels from pg_enum group by enumtypid
), columns as (
  select a.attrelid,
         json_agg(json_build_object(
           'n', a.attname,
           'c', ds.description,
           'o', not (a.attnotnull or t.typtype = 'd' and t.typnotnull),
           't', case when bases.namespace = 'pg_catalog'::regnamespace then format_type(bases.base, null)
                when t.typtype <> 'd' and t.typnamespace = 'pg_catalog'::regnamespace then format_type(t.oid, null)
                else format_type(a.atttypid, a.atttypmod) end,
           'd', format_type(a.atttypid, a.atttypmod),
           'm', information_schema._pg_char_max_length(
             information_schema._pg_truetypid(a, t), information_schema._pg_truetypmod(a, t)),
           'v', case when d.adbin is null and t.typtype = 'd' then pg_get_expr(t.typdefaultbin, 0)
                when a.attidentity = 'd' then format('nextval(%L)', sequence.objid::regclass)
                when a.attgenerated <> '' then null
                else pg_get_expr(d.adbin, d.adrelid) end,
           'e', enums.labels
         ) order by a.attnum) as list
    from pg_attribute a
    join pg_class c on c.oid = a.attrelid and c.relkind in ('r', 'v', 'm', 'f', 'p')
    join pg_namespace n on n.oid = c.relnamespace and n.nspname = any ($1)
    join pg_type t on t.oid = a.atttypid
    left join bases on bases.oid = t.oid
    left join enums on enums.enumtypid = coalesce(bases.base, t.oid)
    left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
    left join pg_depend sequence
      on sequence.refobjid = a.attrelid and sequence.refobjsubid = a.attnum and sequence.deptype = 'i'
     and sequence.refclassid = 'pg_class'::regclass and sequence.classid = 'pg_class'::regclass
    left join pg_description ds
      on ds.objoid = a.attrelid and ds.objsubid = a.attnum and ds.classoid = 'pg_class'::regclass
   where a.attnum > 0 and not a.attisdropped
   group by a.attrelid
), keys as (
  select i.indrelid, array_agg(a.attname::text order by a.attname) as names
    from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any (i.indkey)
   where i.indisprimary
   group by i.indrelid
)
select n.nspname, c.relname, obj_description(c.oid, 'pg_class'), c.relkind in ('v', 'm'),
       case when c.relkind in ('r', 'p') then 28
            when c.relkind in ('v', 'f') then pg_relation_is_updatable(c.oid, true)
            else 0 end,
       coalesce(keys.names, '{}'), coalesce(columns.list, '[]')
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  left join keys on keys.indrelid = c.oid
  left join columns on columns.attrelid = c.oid
 where c.relkind in ('r', 'v', 'm', 'f', 'p')
   and not c.relispartition
   and n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast')
   and not pg_is_other_temp_schema(n.oid)
 order by n.nspname, c.relname`

// keysSQL returns all primary and foreign keys. Relations and columns are numbers, as in the stored
// queries of views.
const keysSQL = `
select k.oid::int8, k.conname, k.contype::text, k.conrelid::int8, k.confrelid::int8, k.conkey,
       coalesce(k.confkey, '{}'),
       k.conparentid = 0,
       coalesce((select true from pg_constraint u
                  where k.contype = 'f' and u.conrelid = k.conrelid and u.contype in ('p', 'u')
                    and u.conkey @> k.conkey and u.conkey <@ k.conkey and cardinality(u.conkey) = cardinality(k.conkey)
                  limit 1), false)
  from pg_constraint k
 where k.contype in ('p', 'f')
 order by k.conrelid, k.conname`

// relationsSQL returns the names of the relations and columns that foreign keys and views refer to
// by number.
const relationsSQL = `
with tied (id) as (
  select conrelid from pg_constraint where contype = 'f'
  union
  select confrelid from pg_constraint where contype = 'f'
  union
  select c.oid from pg_class c join pg_namespace n on n.oid = c.relnamespace
   where c.relkind in ('v', 'm') and n.nspname = any ($1::text[] || $2::text[])
)
select c.oid::int8, n.nspname, c.relname, array_agg(a.attnum order by a.attnum),
       array_agg(a.attname::text order by a.attnum)
  from tied
  join pg_class c on c.oid = tied.id
  join pg_namespace n on n.oid = c.relnamespace
  join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
 group by 1, 2, 3`

// viewsSQL returns the stored query of each view, from which catalog.Origins reads the origins of
// the view's columns.
const viewsSQL = `
select c.oid::int8, n.nspname = any ($1::text[]), r.ev_action::text
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  join pg_rewrite r on r.ev_class = c.oid and r.ev_type = '1'
 where c.relkind in ('v', 'm') and n.nspname = any ($1::text[] || $2::text[])
 order by c.oid`

// computedSQL returns the functions that map one row of a relation to rows of a relation.
const computedSQL = `
select pn.nspname, p.proname, an.nspname, at.typname, rn.nspname, rt.typname, not p.proretset or p.prorows = 1
  from pg_proc p
  join pg_namespace pn on pn.oid = p.pronamespace
  join pg_type at on at.oid = p.proargtypes[0] and at.typtype = 'c'
  join pg_namespace an on an.oid = at.typnamespace
  join pg_class ac on ac.oid = at.typrelid and ac.relkind in ('r', 'v', 'm', 'f', 'p')
  join pg_type rt on rt.oid = p.prorettype and rt.typtype = 'c'
  join pg_namespace rn on rn.oid = rt.typnamespace
  join pg_class rc on rc.oid = rt.typrelid and rc.relkind in ('r', 'v', 'm', 'f', 'p')
 where p.pronargs = 1`

// routinesSQL returns the callable functions. $2 are the names of the settings that are lifted from
// a function to its transaction. A function with an unnamed parameter is callable if it has no
// other parameter and its type can take a whole request body.
const routinesSQL = domainsSQL + `
select n.nspname, p.proname, obj_description(p.oid, 'pg_proc'),
       rn.nspname, coalesce(rc.relname, rt.typname),
       p.proretset,
       rt.typtype = 'c' or coalesce(p.proargmodes::text[] && '{t,b,o}', false),
       p.provolatile::text, p.provariadic <> 0,
       coalesce((select split_part(split_part(s, '=', 2), ',', 1) from unnest(p.proconfig) s
                  where s like 'default\_transaction\_isolation=%' limit 1), ''),
       coalesce((select json_agg(json_build_array(split_part(s, '=', 1), substr(s, strpos(s, '=') + 1)))
                   from unnest(p.proconfig) s where split_part(s, '=', 1) = any ($2)), '[]'),
       coalesce(inputs.list, '[]')
  from pg_proc p
  join pg_namespace n on n.oid = p.pronamespace
  left join bases on bases.oid = p.prorettype
  join pg_type rt on rt.oid = coalesce(bases.base, p.prorettype)
  join pg_namespace rn on rn.oid = rt.typnamespace
  left join pg_class rc on rc.oid = rt.typrelid
  left join lateral (
    select json_agg(json_build_array(
             coalesce(name, ''),
             type::regtype::text,
             case type when 'bit'::regtype then 'bit varying'
                       when 'bit[]'::regtype then 'bit varying[]'
                       when 'character'::regtype then 'character varying'
                       when 'character[]'::regtype then 'character varying[]'
                       else type::regtype::text end,
             nth <= p.pronargs - p.pronargdefaults,
             coalesce(mode = 'v', false)) order by nth) as list,
           count(*) as number,
           count(nullif(name, '')) as named,
           min(type::int8)::oid as first
      from (select name, type, mode, row_number() over (order by place) as nth
              from unnest(p.proargnames, coalesce(p.proallargtypes, p.proargtypes::oid[]), p.proargmodes)
                   with ordinality as _ (name, type, mode, place)
             where type is not null and coalesce(mode, 'i') in ('i', 'b', 'v')) args
  ) inputs on true
 where p.prokind = 'f'
   and rt.oid <> 'trigger'::regtype
   and n.nspname = any ($1)
   and (inputs.named = inputs.number
     or inputs.number = 1
         and inputs.first in ('bytea'::regtype, 'json'::regtype, 'jsonb'::regtype, 'text'::regtype, 'xml'::regtype))`

// castsSQL returns the implicit casts with a function between a domain and json or text. They
// represent the domain.
const castsSQL = `
select c.castsource::regtype::text, c.casttarget::regtype::text, c.castfunc::regproc::text
  from pg_cast c
  join pg_type s on s.oid = c.castsource
  join pg_type t on t.oid = c.casttarget
 where c.castcontext = 'i' and c.castmethod = 'f' and has_function_privilege(c.castfunc, 'execute')
   and (s.typtype = 'd' and c.casttarget in ('json'::regtype, 'text'::regtype)
     or t.typtype = 'd' and c.castsource in ('json'::regtype, 'text'::regtype))`

// textTypesSQL returns the enums, base types and ranges of users and extensions that to_json
// converts to a string: those without a cast to json by a function. 16384 is the first OID of a
// type that is not built in.
const textTypesSQL = `
select t.oid
  from pg_type t
 where t.oid >= 16384 and t.typtype in ('b', 'e', 'm', 'r') and t.typelem = 0 and t.typisdefined
   and not exists (select from pg_cast c
                    where c.castsource = t.oid and c.casttarget = 'json'::regtype and c.castmethod = 'f')`

// handlersSQL returns the handlers of media types: aggregates over the rows of a relation (or over
// anyelement) that return a domain with the name of a media type, and functions that return such a
// domain.
const handlersSQL = `
with media as (
  select t.oid, lower(t.typname) as name, n.nspname as schema, t.typname as domain
    from pg_type t join pg_namespace n on n.oid = t.typnamespace
   where t.typtype = 'd' and (t.typname = '*/*' or t.typname ~ '^[A-Za-z0-9.-]+/[A-Za-z0-9.+-]+$')
)
select pn.nspname, p.proname, case at.typname when 'anyelement' then '' else an.nspname end,
       case at.typname when 'anyelement' then '' else at.typname end, media.name
  from media
  join pg_proc p on p.prorettype = media.oid and p.prokind = 'a' and p.pronargs = 1
  join pg_namespace pn on pn.oid = p.pronamespace and pn.nspname = any ($1)
  join pg_type at on at.oid = p.proargtypes[0] and (at.typname = 'anyelement' or at.typrelid <> 0)
  join pg_namespace an on an.oid = at.typnamespace
union
select media.schema, media.domain, pn.nspname, p.proname, media.name
  from media
  join pg_proc p on p.prorettype = media.oid and p.prokind = 'f' and not p.proretset
  join pg_namespace pn on pn.oid = p.pronamespace and pn.nspname = any ($1)`
