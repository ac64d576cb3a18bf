package catalog

import "daawo/supabase/internal/database/pool"

// Extensions lists the extensions that the server has, by name.
func Extensions(f Filter) pool.Statement {
	var s statement
	s.name("e.name", f.Name)
	return s.list(f, `
select e.name, n.nspname as schema, e.default_version, x.extversion as installed_version, e.comment
  from pg_available_extensions() e
  left join pg_extension x on x.extname = e.name
  left join pg_namespace n on n.oid = x.extnamespace
 where true`+s.and())
}

// Publications lists the publications. A publication of all tables has null for its tables.
func Publications(f Filter) pool.Statement {
	var s statement
	s.ids(f, "p.oid")
	s.name("p.pubname", f.Name)
	return s.list(f, `
select p.oid::int8 as id, p.pubname as name, o.rolname as owner, p.pubinsert as publish_insert,
       p.pubupdate as publish_update, p.pubdelete as publish_delete, p.pubtruncate as publish_truncate,
       case when not p.puballtables then (
         select coalesce(json_agg(json_build_object('id', c.oid::int8, 'name', c.relname, 'schema', n.nspname)
                                  order by r.oid), '[]')
           from pg_publication_rel r
           join pg_class c on c.oid = r.prrelid
           join pg_namespace n on n.oid = c.relnamespace
          where r.prpubid = p.oid) end as tables
  from pg_publication p join pg_roles o on o.oid = p.pubowner
 where true`+s.and()+`
 order by p.oid`)
}

// Config lists the settings of the server by category and name.
func Config(f Filter) pool.Statement {
	var s statement
	return s.list(f, `
select name, setting, category, btrim(split_part(category, '/', 1)) as "group",
       btrim(split_part(category, '/', 2)) as subgroup, unit, short_desc, extra_desc, context, vartype, source, min_val,
       max_val, enumvals, boot_val, reset_val, sourcefile, sourceline, pending_restart
  from pg_settings
 order by category, name`)
}

// Version returns the version of the server and its connections.
func Version() pool.Statement {
	var s statement
	return s.list(Filter{}, `
select version(), current_setting('server_version_num')::int as version_number,
       (select count(*) from pg_stat_activity) as active_connections,
       current_setting('max_connections')::int as max_connections`)
}
