package database

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// stateOfObjects selects the row count of each table, and the state of other objects by name. It
// leaves out members of extensions, except the tables with content, and owners of extensions: each
// distribution has its own.
const stateOfObjects = `
with schemas as (
  select oid, nspname, nspowner, nspacl from pg_namespace where nspname !~ '^pg_' and nspname <> 'information_schema'
), member as (
  select classid, objid from pg_depend where deptype = 'e'
), relation as (
  select c.oid::regclass::text as name, (m.objid is not null) as member, c.*
  from pg_class c left join member m on m.classid = 'pg_class'::regclass and m.objid = c.oid
  where c.relnamespace in (select oid from schemas) and c.relpersistence = 'p'
), filled as (
  select * from relation
  where not member or name in ('cron.job', 'cron.job_run_details', 'vault.secrets')
), own as (
  select * from relation where not member
)
select 'rows of ' || name,
  (xpath('/row/n/text()', query_to_xml('select count(*) as n from ' || name, false, true, '')))[1]::text
from filled where relkind in ('r', 'm')
union all
select 'sequence ' || name, coalesce(pg_sequence_last_value(oid)::text, '') from filled where relkind = 'S'
union all
select 'relation ' || name, concat_ws('|', relkind, relowner::regrole, relrowsecurity, relforcerowsecurity, reloptions,
  (select array_agg(a::text order by a::text)
   from unnest(coalesce(relacl, acldefault(case relkind when 'S' then 's' else 'r' end::"char", relowner))) a))
from own where relkind in ('r', 'm', 'v', 'p', 'S', 'f')
union all
select 'column ' || attname || ' of ' || name, concat_ws('|', format_type(atttypid, atttypmod), attnotnull, attidentity,
  attgenerated, (select array_agg(a::text order by a::text) from unnest(attacl) a),
  (select pg_get_expr(adbin, adrelid) from pg_attrdef where adrelid = attrelid and adnum = attnum))
from own join pg_attribute on attrelid = oid
where attnum > 0 and not attisdropped and relkind in ('r', 'm', 'v', 'p', 'f')
union all
select 'view ' || name, md5(pg_get_viewdef(oid)) from own where relkind in ('v', 'm')
union all
select 'policy ' || format('%I on %I.%I', policyname, schemaname, tablename),
  concat_ws('|', permissive, roles, cmd, qual, with_check)
from pg_policies
union all
select 'schema ' || nspname, concat_ws('|', nspowner::regrole,
  (select array_agg(a::text order by a::text) from unnest(coalesce(nspacl, acldefault('n', nspowner))) a))
from schemas
union all
select 'role ' || rolname, concat_ws('|', rolsuper, rolinherit, rolcreaterole, rolcreatedb, rolcanlogin, rolreplication,
  rolbypassrls, rolconnlimit, rolvaliduntil, md5(rolpassword),
  (select array_agg(roleid::regrole::text || ' ' || concat_ws('|', inherit_option, set_option, admin_option)
                    order by roleid::regrole::text)
   from (select distinct roleid, inherit_option, set_option, admin_option
         from pg_auth_members where member = r.oid) m))
from pg_authid r where rolname !~ '^pg_'
union all
select concat_ws(' ', 'settings of', nullif(setrole, 0)::regrole, case when setdatabase <> 0 then 'in the database' end),
  (select array_agg(s order by s)::text from unnest(setconfig) s)
from pg_db_role_setting
union all
select 'index ' || i.indexrelid::regclass, pg_get_indexdef(i.indexrelid) || i.indisvalid::text
from pg_index i where i.indexrelid in (select oid from own)
union all
select 'constraint ' || conname || ' of ' || conrelid::regclass, pg_get_constraintdef(oid)
from pg_constraint where conrelid in (select oid from own)
union all
select 'trigger ' || tgname || ' of ' || tgrelid::regclass, pg_get_triggerdef(oid) || tgenabled::text
from pg_trigger where not tgisinternal and tgrelid in (select oid from own)
union all
select 'event trigger ' || evtname, concat_ws('|', evtevent, evtfoid::regproc, evtenabled, evttags)
from pg_event_trigger e
where not exists (select from member where classid = 'pg_event_trigger'::regclass and objid = e.oid)
union all
select 'function ' || p.oid::regprocedure, concat_ws('|', proowner::regrole, prosecdef, proconfig, md5(p.prosrc),
  (select array_agg(a::text order by a::text) from unnest(coalesce(proacl, acldefault('f', proowner))) a))
from pg_proc p where p.pronamespace in (select oid from schemas)
  and not exists (select from member where classid = 'pg_proc'::regclass and objid = p.oid)
union all
select 'extension ' || extname, extnamespace::regnamespace::text
from pg_extension where extname <> 'pgsodium'
union all
select 'publication ' || pubname, concat_ws('|', puballtables, pubinsert, pubupdate, pubdelete,
  (select array_agg(prrelid::regclass::text order by prrelid::regclass::text)
   from pg_publication_rel where prpubid = p.oid))
from pg_publication p
union all
select concat_ws(' ', 'default privileges of', defaclrole::regrole, nullif(defaclnamespace, 0)::regnamespace,
  defaclobjtype), (select array_agg(a::text order by a::text)::text from unnest(defaclacl) a)
from pg_default_acl
union all
select 'large objects', count(*)::text from pg_largeobject_metadata`

// inventory returns the state of the database's objects by name.
func inventory(ctx context.Context, conn *pgx.Conn) (map[string]string, error) {
	// Both sides write names with their schemas.
	if _, err := conn.Exec(ctx, `set search_path = ''`); err != nil {
		return nil, err
	}
	rows, err := conn.Query(ctx, stateOfObjects)
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	var name, state string
	_, err = pgx.ForEachRow(rows, []any{&name, &state}, func() error { found[name] = state; return nil })
	return found, err
}
