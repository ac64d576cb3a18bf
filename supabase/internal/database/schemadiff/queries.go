package schemadiff

// query reads the objects of one kind. Its columns are class, oid, oid of the table or view that
// the object belongs to (or 0), key, key of that table (or ”), create, drop, and an array of
// further texts. $1 are the schemas.
type query struct{ kind, sql string }

// queries are in the order in which objects are created, apart from their dependencies.
var queries = []query{
	{"schema", `
		select 'pg_catalog.pg_namespace'::regclass::oid, oid, 0::oid, nspname::text, '',
			format('create schema if not exists %I;', nspname),
			format('drop schema %I;', nspname), array[]::text[]
		from pg_catalog.pg_namespace where nspname = any($1) and nspname <> 'public'`},
	{"extension", `
		select 'pg_catalog.pg_extension'::regclass::oid, e.oid, 0::oid, extname::text, '',
			format('create extension if not exists %I', extname)
				|| case when n.nspname in ('pg_catalog', extname) then '' else format(' with schema %I', n.nspname) end
				|| ';',
			format('drop extension %I;', extname), array[quote_ident(n.nspname)]
		from pg_catalog.pg_extension e join pg_catalog.pg_namespace n on n.oid = extnamespace
		where extname <> 'plpgsql' and cardinality($1::text[]) > 0`},
	{"collation", `
		select 'pg_catalog.pg_collation'::regclass::oid, c.oid, 0::oid, format('%I.%I', nspname, collname), '',
			format('create collation %I.%I (%s);', nspname, collname, concat_ws(', ',
				case collprovider when 'i' then 'provider = icu' when 'b' then 'provider = builtin'
					else 'provider = libc' end,
				'locale = ' || quote_literal(coalesce(to_jsonb(c) ->> 'colllocale', to_jsonb(c) ->> 'colliculocale')),
				'lc_collate = ' || quote_literal(collcollate), 'lc_ctype = ' || quote_literal(collctype),
				case when collisdeterministic then null else 'deterministic = false' end,
				'rules = ' || quote_literal(to_jsonb(c) ->> 'collicurules'))),
			format('drop collation %I.%I;', nspname, collname), array[]::text[]
		from pg_catalog.pg_collation c join pg_catalog.pg_namespace n on n.oid = collnamespace
		where nspname = any($1)` + notOfExtension("pg_collation", "c.oid")},
	{"text search dictionary", `
		select 'pg_catalog.pg_ts_dict'::regclass::oid, d.oid, 0::oid, format('%I.%I', n.nspname, dictname), '',
			format('create text search dictionary %I.%I (template = %I.%I%s);', n.nspname, dictname,
				tn.nspname, tmplname, ', ' || dictinitoption),
			format('drop text search dictionary %I.%I;', n.nspname, dictname), array[]::text[]
		from pg_catalog.pg_ts_dict d join pg_catalog.pg_namespace n on n.oid = dictnamespace
		join pg_catalog.pg_ts_template t on t.oid = dicttemplate
		join pg_catalog.pg_namespace tn on tn.oid = tmplnamespace
		where n.nspname = any($1)` + notOfExtension("pg_ts_dict", "d.oid")},
	{"text search configuration", `
		select 'pg_catalog.pg_ts_config'::regclass::oid, c.oid, 0::oid, format('%I.%I', n.nspname, cfgname), '',
			format('create text search configuration %I.%I (parser = %I.%I);', n.nspname, cfgname, pn.nspname, prsname)
				|| coalesce((select string_agg(
					format(E'\nalter text search configuration %I.%I add mapping for %I with %s;',
						n.nspname, cfgname, alias, dictionaries), '' order by alias)
					from pg_catalog.ts_token_type(cfgparser) k join (
						select maptokentype, string_agg(mapdict::regdictionary::text, ', ' order by mapseqno)
						from pg_catalog.pg_ts_config_map where mapcfg = c.oid group by 1) m (token, dictionaries)
						on token = tokid), ''),
			format('drop text search configuration %I.%I;', n.nspname, cfgname), array[]::text[]
		from pg_catalog.pg_ts_config c join pg_catalog.pg_namespace n on n.oid = cfgnamespace
		join pg_catalog.pg_ts_parser r on r.oid = cfgparser join pg_catalog.pg_namespace pn on pn.oid = prsnamespace
		where n.nspname = any($1)` + notOfExtension("pg_ts_config", "c.oid")},
	{"default privileges", privilegesQuery},
	{"type", `
		select 'pg_catalog.pg_type'::regclass::oid, t.oid, 0::oid, format('%I.%I', nspname, typname), '',
			format(E'create type %I.%I as enum (\n    %s\n);', nspname, typname,
				(select string_agg(quote_literal(enumlabel), E',\n    ' order by enumsortorder)
					from pg_catalog.pg_enum where enumtypid = t.oid)),
			format('drop type %I.%I;', nspname, typname),
			(select array_agg(enumlabel::text order by enumsortorder) from pg_catalog.pg_enum where enumtypid = t.oid)
		from pg_catalog.pg_type t join pg_catalog.pg_namespace n on n.oid = typnamespace
		where nspname = any($1) and typtype = 'e'` + notOfExtension("pg_type", "t.oid")},
	{"composite type", `
		select 'pg_catalog.pg_type'::regclass::oid, t.oid, 0::oid, format('%I.%I', nspname, typname), '',
			format(E'create type %I.%I as (\n    %s\n);', nspname, typname,
				(select string_agg(
					format('%I %s', attname, format_type(atttypid, atttypmod)) || ` + collation("atttypid", "attcollation") + `,
					E',\n    ' order by attnum)
				 from pg_catalog.pg_attribute where attrelid = typrelid and attnum > 0 and not attisdropped)),
			format('drop type %I.%I;', nspname, typname),
			array(select format('%I %s', attname, format_type(atttypid, atttypmod)) || ` + collation("atttypid", "attcollation") + `
				from pg_catalog.pg_attribute where attrelid = typrelid and attnum > 0 and not attisdropped
				order by attnum)
		from pg_catalog.pg_type t join pg_catalog.pg_namespace n on n.oid = typnamespace
		join pg_catalog.pg_class c on c.oid = typrelid
		where nspname = any($1) and typtype = 'c' and relkind = 'c'` + notOfExtension("pg_type", "t.oid")},
	{"domain", `
		select 'pg_catalog.pg_type'::regclass::oid, t.oid, 0::oid, format('%I.%I', nspname, typname), '',
			format('create domain %I.%I as %s%s%s%s%s;%s', nspname, typname, format_type(typbasetype, typtypmod),
				` + collation("t.typbasetype", "t.typcollation") + `,
				' default ' || typdefault,
				case when typnotnull then ' not null' end,
				(select string_agg(
					format(' constraint %I %s', conname, pg_get_constraintdef(c.oid)), '' order by conname)
				 from pg_catalog.pg_constraint c where contypid = t.oid and contype = 'c' and convalidated),
				(select string_agg(format(E'\nalter domain %I.%I add constraint %I %s;', nspname, typname, conname,
					pg_get_constraintdef(c.oid)), '' order by conname)
				 from pg_catalog.pg_constraint c where contypid = t.oid and contype = 'c' and not convalidated)),
			format('drop domain %I.%I;', nspname, typname),
			array[format_type(typbasetype, typtypmod) || ` + collation("t.typbasetype", "t.typcollation") + `,
				coalesce(typdefault, ''),
				case when typnotnull then 'not null' else '' end]
				|| array(select format('%I %s', conname, pg_get_constraintdef(c.oid))
					from pg_catalog.pg_constraint c where contypid = t.oid and contype = 'c' order by conname)
		from pg_catalog.pg_type t join pg_catalog.pg_namespace n on n.oid = typnamespace
		where nspname = any($1) and typtype = 'd'` + notOfExtension("pg_type", "t.oid")},
	{"range type", `
		select 'pg_catalog.pg_type'::regclass::oid, t.oid, 0::oid, format('%I.%I', nspname, typname), '',
			format('create type %I.%I as range (%s)', nspname, typname, concat_ws(', ',
				'subtype = ' || format_type(rngsubtype, null),
				(select format('subtype_opclass = %I.%I', ns.nspname, opcname) from pg_catalog.pg_opclass o
					join pg_catalog.pg_namespace ns on ns.oid = opcnamespace
					where o.oid = rngsubopc and not opcdefault),
				(select format('collation = %I.%I', ns.nspname, collname) from pg_catalog.pg_collation l
					join pg_catalog.pg_namespace ns on ns.oid = collnamespace
					where l.oid = rngcollation
						and l.oid <> (select s.typcollation from pg_catalog.pg_type s where s.oid = rngsubtype)),
				(select format('subtype_diff = %I.%I', ns.nspname, proname) from pg_catalog.pg_proc p
					join pg_catalog.pg_namespace ns on ns.oid = pronamespace where p.oid = rngsubdiff),
				(select format('multirange_type_name = %I.%I', ns.nspname, m.typname) from pg_catalog.pg_type m
					join pg_catalog.pg_namespace ns on ns.oid = m.typnamespace where m.oid = rngmultitypid))) || ';',
			format('drop type %I.%I;', nspname, typname), array[]::text[]
		from pg_catalog.pg_range r join pg_catalog.pg_type t on t.oid = rngtypid
		join pg_catalog.pg_namespace n on n.oid = typnamespace
		where nspname = any($1)` + notOfExtension("pg_type", "t.oid")},
	{"sequence", `
		select 'pg_catalog.pg_class'::regclass::oid, c.oid, 0::oid, format('%I.%I', nspname, relname), '',
			format('create sequence %I.%I as %s start with %s increment by %s minvalue %s maxvalue %s cache %s%s;',
				nspname, relname, format_type(seqtypid, null), seqstart, seqincrement, seqmin, seqmax, seqcache,
				case when seqcycle then ' cycle' end),
			format('drop sequence if exists %I.%I;', nspname, relname), array[]::text[]
		from pg_catalog.pg_sequence s join pg_catalog.pg_class c on c.oid = seqrelid
		join pg_catalog.pg_namespace n on n.oid = relnamespace
		where nspname = any($1)
			and not exists (select from pg_catalog.pg_depend d
				where d.classid = 'pg_catalog.pg_class'::regclass and d.objid = c.oid and deptype = 'i')` +
		notOfExtension("pg_class", "c.oid")},
	{"table", `
		select 'pg_catalog.pg_class'::regclass::oid, c.oid, 0::oid, format('%I.%I', nspname, relname), '',
			format('create %stable %I.%I', case relpersistence when 'u' then 'unlogged ' else '' end, nspname, relname)
			|| case when relispartition
				then format(' partition of %s %s',
					(select inhparent::regclass from pg_catalog.pg_inherits where inhrelid = c.oid),
					pg_get_expr(relpartbound, c.oid))
				else ' (%COLUMNS%)' || coalesce(
					(select ' inherits (' || string_agg(inhparent::regclass::text, ', ' order by inhseqno) || ')'
						from pg_catalog.pg_inherits where inhrelid = c.oid), '')
				end
			|| case when relkind = 'p' then ' partition by ' || pg_get_partkeydef(c.oid) else '' end
			|| coalesce(' with (' || array_to_string(reloptions, ', ') || ')', '') || ';',
			format('drop table %I.%I;', nspname, relname),
			case when relispartition
				then array[(select inhparent::regclass::text from pg_catalog.pg_inherits where inhrelid = c.oid),
					pg_get_expr(relpartbound, c.oid)]
				else array[]::text[] end
		from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = relnamespace
		where nspname = any($1) and relkind in ('r', 'p')` + notOfExtension("pg_class", "c.oid")},
	{"sequence owner", `
		select 'pg_catalog.pg_class'::regclass::oid, c.oid, a.attrelid, format('%I.%I', nspname, relname),
			'table ' || a.attrelid::regclass,
			format('alter sequence %I.%I owned by %s.%I;', nspname, relname, a.attrelid::regclass, attname), '',
			array[]::text[]
		from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = relnamespace
		join pg_catalog.pg_depend d on d.classid = 'pg_catalog.pg_class'::regclass and d.objid = c.oid
			and d.refclassid = 'pg_catalog.pg_class'::regclass and deptype = 'a'
		join pg_catalog.pg_attribute a on a.attrelid = refobjid and attnum = refobjsubid
		where nspname = any($1) and relkind = 'S'`},
	{"function", `
		select 'pg_catalog.pg_proc'::regclass::oid, p.oid, 0::oid,
			format('%I.%I(%s)', nspname, proname, pg_get_function_identity_arguments(p.oid)), '',
			pg_get_functiondef(p.oid) || ';',
			format('drop %s %I.%I(%s);', case prokind when 'p' then 'procedure' else 'function' end, nspname, proname,
				pg_get_function_identity_arguments(p.oid)),
			array[coalesce(pg_get_function_result(p.oid), ''), prokind::text,
				(pronargdefaults > 0)::text || pg_get_function_arguments(p.oid)]
		from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid = pronamespace
		where nspname = any($1) and prokind in ('f', 'p', 'w')
			and not exists (select from pg_catalog.pg_depend x
				where x.classid = 'pg_catalog.pg_proc'::regclass and x.objid = p.oid and x.deptype in ('e', 'i'))`},
	{"aggregate", aggregateQuery},
	{"default", `
		select 'pg_catalog.pg_attrdef'::regclass::oid, d.oid, adrelid, format('%I of %s', attname, adrelid::regclass),
			'table ' || adrelid::regclass,
			format('alter table only %s alter column %I set default %s;', adrelid::regclass, attname,
				pg_get_expr(adbin, adrelid)),
			format('alter table only %s alter column %I drop default;', adrelid::regclass, attname), array[]::text[]
		from pg_catalog.pg_attrdef d join pg_catalog.pg_attribute a on attrelid = adrelid and attnum = adnum
		join pg_catalog.pg_class c on c.oid = adrelid join pg_catalog.pg_namespace n on n.oid = relnamespace
		where nspname = any($1) and attgenerated = '' and ` + separateDefault},
	{"constraint", constraintQuery("contype in ('p', 'u', 'x')")},
	{"check", constraintQuery("contype = 'c'")},
	{"view", `
		select 'pg_catalog.pg_class'::regclass::oid, c.oid, 0::oid, format('%I.%I', nspname, relname), '',
			format(E'create %sview %I.%I%s as\n%s', case relkind when 'm' then 'materialized ' else '' end,
				nspname, relname, ' with (' || array_to_string(reloptions, ', ') || ')', pg_get_viewdef(c.oid)),
			format('drop %sview %I.%I;', case relkind when 'm' then 'materialized ' else '' end, nspname, relname),
			array[(select string_agg(format('%I %s', attname, format_type(atttypid, atttypmod)), ', ' order by attnum)
				from pg_catalog.pg_attribute where attrelid = c.oid and attnum > 0 and not attisdropped)]
		from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = relnamespace
		where nspname = any($1) and relkind in ('v', 'm')` + notOfExtension("pg_class", "c.oid")},
	{"index", `
		select 'pg_catalog.pg_class'::regclass::oid, c.oid, indrelid, format('%I.%I', nspname, c.relname),
			'table ' || indrelid::regclass,
			replace(pg_get_indexdef(c.oid), ' ON ONLY ' || indrelid::regclass, ' ON ' || indrelid::regclass) || ';',
			format('drop index %I.%I;', nspname, c.relname),
			array[case when c.relispartition then '` + inherited + `' else '' end]
		from pg_catalog.pg_index i join pg_catalog.pg_class c on c.oid = indexrelid
		join pg_catalog.pg_namespace n on n.oid = relnamespace
		where nspname = any($1)
			and not exists (select from pg_catalog.pg_constraint
				where conindid = c.oid and contype in ('p', 'u', 'x'))` +
		notOfExtension("pg_class", "i.indrelid")},
	{"foreign key", constraintQuery("contype = 'f'")},
	{"rule", `
		select 'pg_catalog.pg_rewrite'::regclass::oid, r.oid, ev_class,
			format('%I on %s', rulename, ev_class::regclass), 'table ' || ev_class::regclass,
			pg_get_ruledef(r.oid), format('drop rule %I on %s;', rulename, ev_class::regclass), array[]::text[]
		from pg_catalog.pg_rewrite r join pg_catalog.pg_class c on c.oid = ev_class
		join pg_catalog.pg_namespace n on n.oid = relnamespace
		where nspname = any($1) and rulename <> '_RETURN'` + notOfExtension("pg_class", "ev_class")},
	{"trigger", `
		select 'pg_catalog.pg_trigger'::regclass::oid, t.oid, tgrelid, format('%I on %s', tgname, tgrelid::regclass),
			'table ' || tgrelid::regclass,
			pg_get_triggerdef(t.oid) || ';'
				|| case when tgenabled <> 'O' then format(E'\nalter table %s %s trigger %I;', tgrelid::regclass,
					case tgenabled when 'D' then 'disable' when 'A' then 'enable always' else 'enable replica' end,
					tgname) else '' end,
			format('drop trigger %I on %s;', tgname, tgrelid::regclass), array[]::text[]
		from pg_catalog.pg_trigger t join pg_catalog.pg_class c on c.oid = tgrelid
		join pg_catalog.pg_namespace n on n.oid = relnamespace
		join pg_catalog.pg_proc p on p.oid = tgfoid join pg_catalog.pg_namespace pn on pn.oid = pronamespace
		where (n.nspname = any($1) or n.nspname = any($2) and pn.nspname = any($1)) and not tgisinternal
			and tgparentid = 0`},
	{"row level security", `
		select 'pg_catalog.pg_class'::regclass::oid, c.oid, c.oid, c.oid::regclass::text, 'table ' || c.oid::regclass,
			format('alter table %s enable row level security;', c.oid::regclass)
				|| case when relforcerowsecurity
					then format(E'\nalter table %s force row level security;', c.oid::regclass) else '' end,
			format('alter table %s disable row level security;', c.oid::regclass), array[]::text[]
		from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = relnamespace
		where nspname = any($1) and relrowsecurity` + notOfExtension("pg_class", "c.oid")},
	{"policy", `
		select 'pg_catalog.pg_policy'::regclass::oid, p.oid, polrelid,
			format('%I on %s', polname, polrelid::regclass), 'table ' || polrelid::regclass,
			format('create policy %I on %s%s for %s to %s%s%s;', polname, polrelid::regclass,
				case when polpermissive then '' else ' as restrictive' end,
				case polcmd when 'r' then 'select' when 'a' then 'insert' when 'w' then 'update'
					when 'd' then 'delete' else 'all' end,
				(select string_agg(
					case role when 0 then 'public' else quote_ident(pg_get_userbyid(role)) end, ', ' order by role)
					from unnest(polroles) role),
				' using (' || pg_get_expr(polqual, polrelid) || ')',
				' with check (' || pg_get_expr(polwithcheck, polrelid) || ')'),
			format('drop policy %I on %s;', polname, polrelid::regclass), array[]::text[]
		from pg_catalog.pg_policy p join pg_catalog.pg_class c on c.oid = polrelid
		join pg_catalog.pg_namespace n on n.oid = relnamespace
		where (nspname = any($1)
			or polrelid::regclass::text in ('storage.objects', 'storage.buckets', 'realtime.messages')
				and cardinality($2::text[]) > 0)` +
		notOfExtension("pg_class", "polrelid")},
	{"replica identity", `
		select 'pg_catalog.pg_class'::regclass::oid, c.oid, c.oid, c.oid::regclass::text, 'table ' || c.oid::regclass,
			format('alter table only %s replica identity %s;', c.oid::regclass,
				case relreplident when 'f' then 'full' when 'n' then 'nothing'
					else 'using index ' || (
						select quote_ident(x.relname)
						from pg_catalog.pg_index i join pg_catalog.pg_class x on x.oid = indexrelid
						where indrelid = c.oid and indisreplident)
					end),
			format('alter table only %s replica identity default;', c.oid::regclass), array[]::text[]
		from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = relnamespace
		where nspname = any($1) and relkind in ('r', 'p') and relreplident <> 'd'
			and (relreplident <> 'i' or exists (select from pg_catalog.pg_index i
				where indrelid = c.oid and indisreplident))` + notOfExtension("pg_class", "c.oid")},
	{"statistics", `
		select 'pg_catalog.pg_statistic_ext'::regclass::oid, s.oid, stxrelid, format('%I.%I', nspname, stxname),
			'table ' || stxrelid::regclass,
			pg_get_statisticsobjdef(s.oid) || ';', format('drop statistics %I.%I;', nspname, stxname), array[]::text[]
		from pg_catalog.pg_statistic_ext s join pg_catalog.pg_namespace n on n.oid = stxnamespace
		where nspname = any($1)`},
	{"comment", commentQuery},
	{"grants", grantsQuery},
	{"column grants", `
		select 'pg_catalog.pg_class'::regclass::oid, c.oid, c.oid, format('%I of %s', attname, c.oid::regclass),
			'table ' || c.oid::regclass,
			(select string_agg(
				format('grant %s (%I) on table %s to %s%s;', lower(privilege_type), attname, c.oid::regclass,
					case grantee when 0 then 'public' else quote_ident(pg_get_userbyid(grantee)) end,
					case when is_grantable then ' with grant option' else '' end),
				E'\n' order by grantee, privilege_type)
				from aclexplode(attacl)),
			(select string_agg(
				distinct format('revoke all (%I) on table %s from %s;', attname, c.oid::regclass,
					case grantee when 0 then 'public' else quote_ident(pg_get_userbyid(grantee)) end), E'\n')
				from aclexplode(attacl)), array[]::text[]
		from pg_catalog.pg_attribute a join pg_catalog.pg_class c on c.oid = attrelid
		join pg_catalog.pg_namespace n on n.oid = relnamespace
		where nspname = any($1) and attacl is not null and cardinality(attacl) > 0
			and not attisdropped` + notOfExtension("pg_class", "c.oid")},
	{"publication", `
		select 'pg_catalog.pg_publication'::regclass::oid, oid, 0::oid, pubname::text, '',
			format('create publication %I%s with (publish = %L);', pubname,
				case when puballtables then ' for all tables' else '' end,
				array_to_string(array_remove(array[
					case when pubinsert then 'insert' end, case when pubupdate then 'update' end,
					case when pubdelete then 'delete' end, case when pubtruncate then 'truncate' end], null), ', ')),
			format('drop publication %I;', pubname), array[case when puballtables then 'all' else '' end]
		from pg_catalog.pg_publication where pubname !~ '^supabase_realtime' and cardinality($1::text[]) > 0`},
	{"published table", `
		select 'pg_catalog.pg_publication_rel'::regclass::oid, r.oid, prrelid,
			format('%s in %I', prrelid::regclass, pubname), 'table ' || prrelid::regclass,
			format('alter publication %I add table only %s%s%s;', pubname, prrelid::regclass,
				(select ' (' || string_agg(quote_ident(attname), ', ' order by attnum) || ')'
					from pg_catalog.pg_attribute where attrelid = prrelid and attnum = any(prattrs::int2[])),
				' where (' || pg_get_expr(prqual, prrelid) || ')'),
			format('alter publication %I drop table only %s;', pubname, prrelid::regclass), array[]::text[]
		from pg_catalog.pg_publication_rel r join pg_catalog.pg_publication p on p.oid = prpubid
		join pg_catalog.pg_class c on c.oid = prrelid
		join pg_catalog.pg_namespace n on n.oid = relnamespace where nspname = any($1)`},
	{"published schema", `
		select 'pg_catalog.pg_publication_namespace'::regclass::oid, r.oid, n.oid,
			format('%I in %I', nspname, pubname), 'schema ' || quote_ident(nspname),
			format('alter publication %I add tables in schema %I;', pubname, nspname),
			format('alter publication %I drop tables in schema %I;', pubname, nspname), array[]::text[]
		from pg_catalog.pg_publication_namespace r join pg_catalog.pg_publication p on p.oid = pnpubid
		join pg_catalog.pg_namespace n on n.oid = pnnspid where nspname = any($1)`},
	{"event trigger", `
		select 'pg_catalog.pg_event_trigger'::regclass::oid, e.oid, 0::oid, evtname::text, '',
			format('create event trigger %I on %s%s execute function %s();', evtname, evtevent,
				' when tag in (' || (select string_agg(quote_literal(tag), ', ') from unnest(evttags) tag) || ')',
				evtfoid::regproc),
			format('drop event trigger %I;', evtname), array[]::text[]
		from pg_catalog.pg_event_trigger e join pg_catalog.pg_proc p on p.oid = evtfoid
		join pg_catalog.pg_namespace n on n.oid = pronamespace
		where nspname = any($1)`},
}
