package schemadiff

// notOfExtension is a condition that leaves out the objects of extensions.
func notOfExtension(class, oid string) string {
	return ` and not exists (select from pg_catalog.pg_depend x where x.classid = 'pg_catalog.` + class +
		`'::regclass and x.objid = ` + oid + ` and x.deptype = 'e')`
}

// collation is the expression for the COLLATE clause of a column or a domain, ” where the collation
// is its type's.
func collation(typ, used string) string {
	return `case when ` + used + ` <> 0
			and ` + used + ` <> (select u.typcollation from pg_catalog.pg_type u where u.oid = ` + typ + `)
		then (select format(' collate %I.%I', cn.nspname, collname) from pg_catalog.pg_collation co
			join pg_catalog.pg_namespace cn on cn.oid = collnamespace where co.oid = ` + used + `)
		else '' end`
}

// separateDefault is the condition, on a row d of pg_attrdef, that a default calls a function that
// is no part of Postgres or of an extension. It is then set after the function is created.
const separateDefault = `exists (
	select from pg_catalog.pg_depend x join pg_catalog.pg_proc f on f.oid = x.refobjid
	where x.classid = 'pg_catalog.pg_attrdef'::regclass and x.objid = d.oid
		and x.refclassid = 'pg_catalog.pg_proc'::regclass
		and f.pronamespace <> 'pg_catalog'::regnamespace
		and not exists (select from pg_catalog.pg_depend e
			where e.classid = 'pg_catalog.pg_proc'::regclass and e.objid = f.oid and e.deptype = 'e'))`

func constraintQuery(condition string) string {
	return `
		select 'pg_catalog.pg_constraint'::regclass::oid, k.oid, conrelid,
			format('%I on %s', conname, conrelid::regclass), 'table ' || conrelid::regclass,
			format('alter table %s add constraint %I %s;', conrelid::regclass, conname,
				pg_get_constraintdef(k.oid)),
			format('alter table %s drop constraint %I;', conrelid::regclass, conname),
			array[case when conislocal and conparentid = 0 then '' else '` + inherited + `' end]
		from pg_catalog.pg_constraint k join pg_catalog.pg_class c on c.oid = conrelid
		join pg_catalog.pg_namespace n on n.oid = relnamespace
		where nspname = any($1) and relkind in ('r', 'p')
			and (conislocal and conparentid = 0 or c.relispartition and conrelid is distinct from (
				select p.conrelid from pg_catalog.pg_constraint p where p.oid = k.conparentid))
			and ` + condition + notOfExtension("pg_class", "conrelid")
}

// aggregateQuery reads aggregate functions.
var aggregateQuery = `
	select 'pg_catalog.pg_proc'::regclass::oid, p.oid, 0::oid,
		format('%I.%I(%s)', nspname, proname, pg_get_function_identity_arguments(p.oid)), '',
		format(E'create aggregate %I.%I(%s) (\n    %s\n);', nspname, proname,
			coalesce(nullif(pg_get_function_arguments(p.oid), ''), '*'), concat_ws(E',\n    ',
				'sfunc = ' || aggtransfn::regproc, 'stype = ' || format_type(aggtranstype, null),
				'sspace = ' || nullif(aggtransspace, 0), ` + aggregateFunction("finalfunc", "aggfinalfn") + `,
				case when aggfinalextra then 'finalfunc_extra' end,
				case when aggfinalfn <> 0
					then 'finalfunc_modify = ' || ` + aggregateModify("aggfinalmodify") + ` end,
				` + aggregateFunction("combinefunc", "aggcombinefn") + `,
				` + aggregateFunction("serialfunc", "aggserialfn") + `,
				` + aggregateFunction("deserialfunc", "aggdeserialfn") + `, 'initcond = ' || quote_literal(agginitval),
				` + aggregateFunction("msfunc", "aggmtransfn") + `,
				` + aggregateFunction("minvfunc", "aggminvtransfn") + `,
				case when aggmtransfn <> 0 then 'mstype = ' || format_type(aggmtranstype, null) end,
				'msspace = ' || nullif(aggmtransspace, 0), ` + aggregateFunction("mfinalfunc", "aggmfinalfn") + `,
				case when aggmfinalextra then 'mfinalfunc_extra' end,
				case when aggmfinalfn <> 0
					then 'mfinalfunc_modify = ' || ` + aggregateModify("aggmfinalmodify") + ` end,
				'minitcond = ' || quote_literal(aggminitval),
				(select format('sortop = operator(%I.%s)', on_.nspname, oprname) from pg_catalog.pg_operator o
					join pg_catalog.pg_namespace on_ on on_.oid = oprnamespace where o.oid = aggsortop),
				case proparallel when 's' then 'parallel = safe' when 'r' then 'parallel = restricted' end,
				case aggkind when 'h' then 'hypothetical' end)),
		format('drop aggregate %I.%I(%s);', nspname, proname,
			coalesce(nullif(pg_get_function_identity_arguments(p.oid), ''), '*')), array[]::text[]
	from pg_catalog.pg_aggregate a join pg_catalog.pg_proc p on p.oid = aggfnoid
	join pg_catalog.pg_namespace n on n.oid = pronamespace
	where nspname = any($1)` + notOfExtension("pg_proc", "p.oid")

func aggregateFunction(option, column string) string {
	return `case when ` + column + ` <> 0 then '` + option + ` = ' || ` + column + `::regproc end`
}

func aggregateModify(column string) string {
	return `case ` + column + ` when 'r' then 'read_only' when 's' then 'shareable' else 'read_write' end`
}

// columnsQuery reads the columns of the table $1 that are not inherited, and all columns of a
// partition.
var columnsQuery = `
	select attname::text,
		format_type(atttypid, atttypmod) || ` + collation("atttypid", "attcollation") + `,
		case when attgenerated = '' then coalesce(pg_get_expr(adbin, adrelid), '') else '' end,
		case when attidentity = 'a' then 'always as identity' when attidentity = 'd' then 'by default as identity'
			when attgenerated = 's' then 'always as (' || pg_get_expr(adbin, adrelid) || ') stored' else '' end,
		case when s.seqrelid is null then ''
			else format('start with %s|increment by %s|minvalue %s|maxvalue %s|cache %s|%s',
				seqstart, seqincrement, seqmin, seqmax, seqcache,
				case when seqcycle then 'cycle' else 'no cycle' end) end,
		coalesce(seqstart = 1 and seqincrement = 1 and seqmin = 1 and seqcache = 1 and not seqcycle
			and seqmax = case seqtypid
				when 'int2'::regtype then 32767 when 'int4'::regtype then 2147483647 else 9223372036854775807 end,
			false),
		attnotnull, d.oid is not null and ` + separateDefault + `
	from pg_catalog.pg_attribute a
	left join pg_catalog.pg_attrdef d on adrelid = attrelid and adnum = attnum
	left join pg_catalog.pg_depend i on attidentity <> '' and i.classid = 'pg_catalog.pg_class'::regclass
		and i.refclassid = 'pg_catalog.pg_class'::regclass
		and i.refobjid = attrelid and i.refobjsubid = attnum and i.deptype = 'i'
	left join pg_catalog.pg_sequence s on s.seqrelid = i.objid
	where attrelid = $1 and attnum > 0 and not attisdropped
		and (attislocal or (select relispartition from pg_catalog.pg_class where oid = attrelid))
	order by attnum`

// dependenciesQuery reads which object needs which, with the column that it needs. Rules stand for
// their views, defaults of columns also for their tables, array and row types for their elements
// and tables, foreign keys need the key that they refer to, and users of an extension's objects
// need the extension.
const dependenciesQuery = `
	with raw as (
		select classid, objid, refclassid, refobjid, refobjsubid from pg_catalog.pg_depend
		where deptype in ('n', 'a', 'i') and objid >= 16384
		union all
		select 'pg_catalog.pg_class'::regclass, ev_class, refclassid, refobjid, refobjsubid
		from pg_catalog.pg_depend
		join pg_catalog.pg_rewrite r on classid = 'pg_catalog.pg_rewrite'::regclass and objid = r.oid
		where deptype = 'n' and refobjid <> ev_class
		union all
		select 'pg_catalog.pg_class'::regclass, adrelid, refclassid, refobjid, refobjsubid
		from pg_catalog.pg_depend
		join pg_catalog.pg_attrdef d on classid = 'pg_catalog.pg_attrdef'::regclass and objid = d.oid
		join pg_catalog.pg_attribute g on g.attrelid = adrelid and g.attnum = adnum
		where refobjid <> adrelid and (g.attgenerated <> '' or not ` + separateDefault + `)
		union all
		select 'pg_catalog.pg_type'::regclass, reltype, refclassid, refobjid, refobjsubid
		from pg_catalog.pg_depend
		join pg_catalog.pg_class c on classid = 'pg_catalog.pg_class'::regclass and objid = c.oid where relkind = 'c'
		union all
		select 'pg_catalog.pg_constraint'::regclass, f.oid, 'pg_catalog.pg_constraint'::regclass, k.oid, 0
		from pg_catalog.pg_constraint f
		join pg_catalog.pg_constraint k on k.conindid = f.conindid and k.contype in ('p', 'u') where f.contype = 'f'
	), named as (
		select classid, objid, refclassid, refobjid,
			coalesce((select attname::text from pg_catalog.pg_attribute
				where attrelid = refobjid and attnum = refobjsubid and refobjsubid > 0), '') as name
		from raw
	)
	select classid::oid, objid, refclassid::oid, refobjid, name from named
	union
	select classid::oid, objid, 'pg_catalog.pg_class'::regclass::oid, typrelid, '' from raw
	join pg_catalog.pg_type t on refclassid = 'pg_catalog.pg_type'::regclass and refobjid = t.oid where typrelid <> 0
	union
	select classid::oid, objid, 'pg_catalog.pg_type'::regclass::oid, typelem, '' from raw
	join pg_catalog.pg_type t on refclassid = 'pg_catalog.pg_type'::regclass and refobjid = t.oid where typelem <> 0
	union
	select raw.classid::oid, raw.objid, 'pg_catalog.pg_extension'::regclass::oid, e.refobjid, '' from raw
	join pg_catalog.pg_depend e on e.classid = raw.refclassid and e.objid = raw.refobjid and e.deptype = 'e'`

const commentQuery = `
	with described as (
		select c.oid, 'pg_catalog.pg_class'::regclass as class, c.oid as subject, objsubid, description, nspname,
			case when objsubid > 0 then format('column %s.%I', c.oid::regclass, attname)
				else case relkind
					when 'v' then 'view' when 'm' then 'materialized view' when 'i' then 'index'
					when 'S' then 'sequence' else 'table' end || ' ' || c.oid::regclass
				end as what
		from pg_catalog.pg_description k
		join pg_catalog.pg_class c on c.oid = k.objoid and classoid = 'pg_catalog.pg_class'::regclass
		join pg_catalog.pg_namespace n on n.oid = relnamespace
		left join pg_catalog.pg_attribute a on attrelid = c.oid and attnum = objsubid and objsubid > 0
		where relkind <> 'c'
		union all
		select t.oid, 'pg_catalog.pg_type'::regclass, 0, objsubid, description, nspname,
			format('column %s.%I', c.oid::regclass, attname)
		from pg_catalog.pg_description k
		join pg_catalog.pg_class c on c.oid = k.objoid and classoid = 'pg_catalog.pg_class'::regclass
		join pg_catalog.pg_type t on t.oid = reltype
		join pg_catalog.pg_namespace n on n.oid = relnamespace
		join pg_catalog.pg_attribute a on attrelid = c.oid and attnum = objsubid where relkind = 'c'
		union all
		select c.oid, 'pg_catalog.pg_constraint'::regclass, 0, 0, description, nspname,
			format('constraint %I on domain %I.%I', conname, nspname, typname)
		from pg_catalog.pg_description k
		join pg_catalog.pg_constraint c on c.oid = k.objoid and classoid = 'pg_catalog.pg_constraint'::regclass
		join pg_catalog.pg_type t on t.oid = contypid join pg_catalog.pg_namespace n on n.oid = typnamespace
		union all
		select r.oid, 'pg_catalog.pg_rewrite'::regclass, ev_class, 0, description, nspname,
			format('rule %I on %s', rulename, ev_class::regclass)
		from pg_catalog.pg_description k
		join pg_catalog.pg_rewrite r on r.oid = k.objoid and classoid = 'pg_catalog.pg_rewrite'::regclass
		join pg_catalog.pg_class c on c.oid = ev_class join pg_catalog.pg_namespace n on n.oid = relnamespace
		union all
		select s.oid, 'pg_catalog.pg_statistic_ext'::regclass, stxrelid, 0, description, nspname,
			format('statistics %I.%I', nspname, stxname)
		from pg_catalog.pg_description k
		join pg_catalog.pg_statistic_ext s on s.oid = k.objoid and classoid = 'pg_catalog.pg_statistic_ext'::regclass
		join pg_catalog.pg_namespace n on n.oid = stxnamespace
		union all
		select p.oid, 'pg_catalog.pg_proc'::regclass, 0, 0, description, nspname,
			case prokind when 'p' then 'procedure' when 'a' then 'aggregate' else 'function' end
				|| format(' %I.%I(%s)', nspname, proname, case when prokind = 'a' and pronargs = 0 then '*'
					else pg_get_function_identity_arguments(p.oid) end)
		from pg_catalog.pg_description k
		join pg_catalog.pg_proc p on p.oid = k.objoid and classoid = 'pg_catalog.pg_proc'::regclass
		join pg_catalog.pg_namespace n on n.oid = pronamespace
		union all
		select t.oid, 'pg_catalog.pg_type'::regclass, 0, 0, description, nspname,
			case typtype when 'd' then 'domain' else 'type' end || format(' %I.%I', nspname, typname)
		from pg_catalog.pg_description k
		join pg_catalog.pg_type t on t.oid = k.objoid and classoid = 'pg_catalog.pg_type'::regclass
		join pg_catalog.pg_namespace n on n.oid = typnamespace
		union all
		select q.oid, 'pg_catalog.pg_policy'::regclass, polrelid, 0, description, nspname,
			format('policy %I on %s', polname, polrelid::regclass)
		from pg_catalog.pg_description k
		join pg_catalog.pg_policy q on q.oid = k.objoid and classoid = 'pg_catalog.pg_policy'::regclass
		join pg_catalog.pg_class c on c.oid = polrelid join pg_catalog.pg_namespace n on n.oid = relnamespace
		union all
		select q.oid, 'pg_catalog.pg_constraint'::regclass, conrelid, 0, description, nspname,
			format('constraint %I on %s', conname, conrelid::regclass)
		from pg_catalog.pg_description k
		join pg_catalog.pg_constraint q on q.oid = k.objoid and classoid = 'pg_catalog.pg_constraint'::regclass
		join pg_catalog.pg_class c on c.oid = conrelid join pg_catalog.pg_namespace n on n.oid = relnamespace
		union all
		select q.oid, 'pg_catalog.pg_trigger'::regclass, tgrelid, 0, description, nspname,
			format('trigger %I on %s', tgname, tgrelid::regclass)
		from pg_catalog.pg_description k
		join pg_catalog.pg_trigger q on q.oid = k.objoid and classoid = 'pg_catalog.pg_trigger'::regclass
		join pg_catalog.pg_class c on c.oid = tgrelid join pg_catalog.pg_namespace n on n.oid = relnamespace
		union all
		select n.oid, 'pg_catalog.pg_namespace'::regclass, 0, 0, description, nspname, format('schema %I', nspname)
		from pg_catalog.pg_description k
		join pg_catalog.pg_namespace n on n.oid = k.objoid and classoid = 'pg_catalog.pg_namespace'::regclass
		where nspname <> 'public'
	)
	select class::oid, oid, subject, what, case when subject <> 0 then 'table ' || subject::regclass else '' end,
		format('comment on %s is %L;', what, description), format('comment on %s is null;', what), array[]::text[]
	from described d where nspname = any($1)
		and not exists (select from pg_catalog.pg_depend x
			where x.classid = d.class and x.objid = d.oid and x.deptype in ('e', 'i')
				and d.class <> 'pg_catalog.pg_class'::regclass
				or x.classid = d.class and x.objid = d.oid and x.deptype = 'e')`

// grantsQuery reads the grants on objects, also those of an object without an access list where
// default privileges would give a new one others. Their first detail is usual if a new object of
// the same owner gets the same grants, else own. The other details are the roles with a grant,
// without the API's.
var grantsQuery = `
	with every as (
		select 'pg_catalog.pg_class'::regclass as class, c.oid, c.oid as subject,
			relnamespace as schema, relowner as owner,
			case relkind when 'S' then 'S' else 'r' end::"char" as kind, relacl as acl,
			case relkind when 'S' then 'sequence' else 'table' end || ' ' || c.oid::regclass as what
		from pg_catalog.pg_class c where relkind in ('r', 'p', 'v', 'm', 'S')
			and not exists (select from pg_catalog.pg_depend i
				where i.classid = 'pg_catalog.pg_class'::regclass and i.objid = c.oid
					and i.deptype = 'i' and relkind = 'S')
		union all
		select 'pg_catalog.pg_proc'::regclass, p.oid, 0, pronamespace, proowner, 'f', proacl,
			case prokind when 'p' then 'procedure' else 'function' end
				|| format(' %I.%I(%s)', nspname, proname, case prokind when 'a' then oidvectortypes(proargtypes)
					else pg_get_function_identity_arguments(p.oid) end)
		from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid = pronamespace
		union all
		select 'pg_catalog.pg_type'::regclass, t.oid, 0, typnamespace, typowner, 'T', typacl,
			format('type %I.%I', nspname, typname)
		from pg_catalog.pg_type t join pg_catalog.pg_namespace n on n.oid = typnamespace
		left join pg_catalog.pg_class r on r.oid = typrelid
		where typtype in ('e', 'd', 'r') or typtype = 'c' and r.relkind = 'c'
		union all
		select 'pg_catalog.pg_namespace'::regclass, oid, 0, oid, nspowner, 'n', nspacl, format('schema %I', nspname)
		from pg_catalog.pg_namespace
	), held as (
		select class, oid, subject, schema, owner, kind, what,
			acldefault(case kind when 'S' then 's' else kind end, owner) as first,
			coalesce(acl, acldefault(case kind when 'S' then 's' else kind end, owner)) as acl
		from every where exists (select from pg_catalog.pg_default_acl
				where defaclrole = owner and defaclobjtype = kind and defaclnamespace in (0, schema))
			or acl is not null and ` + grantees("acl") + ` <> ` +
	grantees("acldefault(case kind when 'S' then 's' else kind end, owner)") + `
	), usual as (
		select h.oid, h.class, x.* from held h cross join lateral (
			select * from aclexplode(coalesce(
				(select defaclacl from pg_catalog.pg_default_acl
					where defaclrole = owner and defaclnamespace = 0 and defaclobjtype = kind),
				acldefault(case kind when 'S' then 's' else kind end, owner)))
			union
			select g.* from pg_catalog.pg_default_acl cross join aclexplode(defaclacl) g
			where defaclrole = owner and defaclnamespace = schema and defaclobjtype = kind) x
	), judged as (
		select h.*,
			` + grantees("acl") + `
			= array(select format('%s %s %s', grantee, privilege_type, is_grantable)
				from usual u where u.oid = h.oid and u.class = h.class order by 1) as is_usual
		from held h
	)
	select class::oid, d.oid, subject, what,
		case when subject <> 0 and what ~ '^table' then 'table ' || subject::regclass else '' end,
		format('revoke all on %s from public, anon, authenticated, service_role;', what)
			|| (select coalesce(string_agg(line, '' order by line), '') from (` + grantLines("aclexplode(acl)", "what",
	"grantee <> owner") + `) lines),
		format('revoke all on %s from public, anon, authenticated, service_role;', what)
			|| (select coalesce(string_agg(line, '' order by line), '') from (` + grantLines("aclexplode(first)", "what",
	"grantee <> owner") + `) lines),
		array[case when is_usual then 'usual' else 'own' end]
			|| array(select distinct quote_ident(pg_get_userbyid(grantee))::text from aclexplode(acl)
				where grantee <> 0 and grantee <> owner
					and pg_get_userbyid(grantee) not in ('anon', 'authenticated', 'service_role'))
	from judged d join pg_catalog.pg_namespace n on n.oid = schema
	where nspname = any($1)
		and not exists (select from pg_catalog.pg_depend x
			where x.classid = d.class and x.objid = d.oid and x.deptype in ('e', 'i')
				and d.class <> 'pg_catalog.pg_class'::regclass
				or x.classid = d.class and x.objid = d.oid and x.deptype = 'e')`

// grantees is the expression for the grants of an access list as a sorted array.
func grantees(acl string) string {
	return `array(select format('%s %s %s', grantee, privilege_type, is_grantable) from aclexplode(` + acl +
		`) order by 1)`
}

// grantLines returns a query of GRANT statements, each after a line break, for the rows of an
// exploded access list.
func grantLines(from, what, condition string) string {
	return `select format(E'\ngrant %s on %s to %s%s;',
			lower(string_agg(privilege_type, ', ' order by privilege_type)), ` + what + `,
			case grantee when 0 then 'public' else quote_ident(pg_get_userbyid(grantee)) end,
			case when is_grantable then ' with grant option' else '' end) as line
		from ` + from + ` where ` + condition + ` group by grantee, is_grantable`
}

// privilegesQuery reads the default privileges of the roles that can log in as the project, in its
// schemas and in the whole database.
const privilegesQuery = `
	with held as (
		select a.oid, defaclnamespace as schema,
			format(E'alter default privileges for role %I%s', pg_get_userbyid(defaclrole),
				' in schema ' || quote_ident(nspname)) as alter,
			case defaclobjtype
				when 'r' then 'tables' when 'S' then 'sequences' when 'f' then 'functions' when 'T' then 'types'
				else 'schemas' end as what,
			case defaclobjtype when 'S' then 's' else defaclobjtype end as kind, defaclacl, defaclrole
		from pg_catalog.pg_default_acl a left join pg_catalog.pg_namespace n on n.oid = defaclnamespace
		where (nspname = any($1) or defaclnamespace = 0) and cardinality($1::text[]) > 0
			and pg_get_userbyid(defaclrole) = 'postgres'
	)
	select 'pg_catalog.pg_default_acl'::regclass::oid, oid, 0::oid, alter || ' on ' || what, '',
		format('%s revoke all on %s from public, anon, authenticated, service_role;', alter, what)
			|| (select coalesce(string_agg(line, '' order by line), '') from (
				select format(E'\n%s grant %s on %s to %s%s;', alter,
					lower(string_agg(privilege_type, ', ' order by privilege_type)), what,
					case grantee when 0 then 'public' else quote_ident(pg_get_userbyid(grantee)) end,
					case when is_grantable then ' with grant option' else '' end) as line
				from aclexplode(defaclacl) where schema <> 0 or grantee <> defaclrole
				group by grantee, is_grantable) lines),
		coalesce((select string_agg(distinct format('%s revoke all on %s from %s;', alter, what,
			case grantee when 0 then 'public' else quote_ident(pg_get_userbyid(grantee)) end), E'\n')
			from aclexplode(defaclacl) where schema <> 0 or grantee <> defaclrole), '')
		|| case when schema <> 0 then ''
			when what = 'functions' then E'\n' || alter || ' grant execute on functions to public;'
			when what = 'types' then E'\n' || alter || ' grant usage on types to public;' else '' end,
		array[]::text[]
	from held`
