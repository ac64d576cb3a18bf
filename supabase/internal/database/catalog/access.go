package catalog

import "daawo/supabase/internal/database/pool"

// Schemas lists the schemas that the role may use.
func Schemas(f Filter) pool.Statement {
	var s statement
	s.schemas(f, "n.nspname")
	s.ids(f, "n.oid")
	s.name("n.nspname", f.Name)
	if !f.System {
		s.where("not starts_with(n.nspname, 'pg_')")
	}
	return s.list(f, `
select n.oid::int8 as id, n.nspname as name, o.rolname as owner
  from pg_namespace n join pg_roles o on o.oid = n.nspowner
 where not starts_with(n.nspname, 'pg_temp_') and not starts_with(n.nspname, 'pg_toast_temp_')
   and (pg_has_role(n.nspowner, 'USAGE') or has_schema_privilege(n.oid, 'CREATE, USAGE'))`+s.and()+`
 order by n.oid`)
}

// Roles lists roles, without the predefined ones unless System is set.
func Roles(f Filter) pool.Statement {
	var s statement
	s.ids(f, "r.oid")
	s.name("r.rolname", f.Name)
	if !f.System {
		s.where("not starts_with(r.rolname, 'pg_')")
	}
	return s.list(f, `
select r.oid::int8 as id, r.rolname as name, r.rolsuper as is_superuser, r.rolcreatedb as can_create_db,
       r.rolcreaterole as can_create_role, r.rolinherit as inherit_role, r.rolcanlogin as can_login,
       r.rolreplication as is_replication_role, r.rolbypassrls as can_bypass_rls,
       (select count(*) from pg_stat_activity a where a.usesysid = r.oid) as active_connections,
       case r.rolconnlimit when -1 then current_setting('max_connections')::int else r.rolconnlimit end
         as connection_limit,
       r.rolpassword as password, r.rolvaliduntil::text as valid_until,
       (select jsonb_object_agg(split_part(c, '=', 1), substr(c, strpos(c, '=') + 1)) from unnest(r.rolconfig) c)
         as config
  from pg_roles r
 where true`+s.and()+`
 order by r.oid`)
}

// Policies lists the policies of row level security.
func Policies(f Filter) pool.Statement {
	var s statement
	s.schemas(f, "n.nspname")
	s.ids(f, "p.oid")
	s.name("c.relname", f.Table)
	s.name("p.polname", f.Name)
	return s.list(f, `
select p.oid::int8 as id, n.nspname as schema, c.relname as "table", c.oid::int8 as table_id, p.polname as name,
       case when p.polpermissive then 'PERMISSIVE' else 'RESTRICTIVE' end as action,
       case when 0 = any (p.polroles) then array['public']
            else array(select r.rolname::text from pg_roles r where r.oid = any (p.polroles) order by 1) end as roles,
       case p.polcmd when 'r' then 'SELECT' when 'a' then 'INSERT' when 'w' then 'UPDATE' when 'd' then 'DELETE'
            else 'ALL' end as command,
       pg_get_expr(p.polqual, p.polrelid) as definition, pg_get_expr(p.polwithcheck, p.polrelid) as "check"
  from pg_policy p
  join pg_class c on c.oid = p.polrelid
  join pg_namespace n on n.oid = c.relnamespace
 where true`+s.and()+`
 order by p.oid`)
}

// granted is an entry of a list of privileges as JSON, for an ACL entry x.
const granted = `
         json_build_object(
           'grantor', (select rolname from pg_roles where oid = x.grantor),
           'grantee', case x.grantee when 0 then 'PUBLIC' else (select rolname from pg_roles where oid = x.grantee) end,
           'privilege_type', x.privilege_type, 'is_grantable', x.is_grantable)`

// TablePrivileges lists the privileges on tables, views and other relations.
func TablePrivileges(f Filter) pool.Statement {
	var s statement
	s.schemas(f, "n.nspname")
	s.ids(f, "c.oid")
	order := "x.place"
	if len(f.IDs) > 0 { // the order that postgres-meta's plan has, which its clients may have come to expect
		order = "x.grantee, x.place desc"
	}
	return s.list(f, `
select c.oid::int8 as relation_id, n.nspname as schema, c.relname as name,
       case c.relkind when 'r' then 'table' when 'v' then 'view' when 'm' then 'materialized_view'
            when 'f' then 'foreign_table' else 'partitioned_table' end as kind,
       (select coalesce(json_agg(`+granted+` order by `+order+`), '[]')
          from aclexplode(coalesce(c.relacl, acldefault('r', c.relowner)))
               with ordinality x (grantor, grantee, privilege_type, is_grantable, place)) as privileges
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
 where c.relkind in ('r', 'v', 'm', 'f', 'p') and not pg_is_other_temp_schema(n.oid) and `+visible+s.and()+`
 order by c.oid`)
}

// ColumnPrivileges lists the privileges on columns: the column's own, and its table's,
// which count for each column.
func ColumnPrivileges(f Filter) pool.Statement {
	var s statement
	s.schemas(f, "n.nspname")
	if len(f.IDs) > 0 {
		s.where("c.oid || '.' || a.attnum = any (%s::text[])", array(f.IDs))
	}
	return s.list(f, `
select c.oid || '.' || a.attnum as column_id, n.nspname as relation_schema, c.relname as relation_name,
       a.attname as column_name,
       json_agg(`+granted+` order by x.grantee desc, x.privilege_type desc, x.grantor) as privileges
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  cross join lateral (
    select * from aclexplode(coalesce(c.relacl, acldefault('r', c.relowner)))
    union
    select * from aclexplode(a.attacl)) x
 where c.relkind in ('r', 'v', 'm', 'f', 'p')
   and x.privilege_type in ('INSERT', 'SELECT', 'UPDATE', 'REFERENCES')
   and (x.grantee = 0 or pg_has_role(x.grantor, 'USAGE') or pg_has_role(x.grantee, 'USAGE'))`+s.and()+`
 group by c.oid, a.attnum, n.nspname, c.relname, a.attname
 order by c.oid, a.attnum`)
}
