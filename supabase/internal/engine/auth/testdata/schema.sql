-- The catalogue of the schema auth, one line per fact. TestSchema compares its output with schema.golden, which a database
-- gave that GoTrue v2.196 migrated (docs/evidence/auth.md). Grantors and the order of grants are left out.

-- Tables and columns.
select format('table %s owner %s rls %s force %s', relname, pg_get_userbyid(relowner), relrowsecurity, relforcerowsecurity)
  from pg_class where relnamespace = 'auth'::regnamespace and relkind = 'r' order by 1;

select format('column %s.%s %s %s%s%s%s', c.relname, lpad(row_number() over (partition by c.oid order by a.attnum)::text, 2, '0'),
         a.attname, format_type(a.atttypid, a.atttypmod), case when a.attnotnull then ' not null' end,
         case when a.attgenerated <> '' then ' generated' end, ' default ' || pg_get_expr(d.adbin, d.adrelid))
  from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
 where c.relnamespace = 'auth'::regnamespace and c.relkind = 'r' order by c.relname, a.attnum;

-- Indexes, constraints, triggers, policies, sequences, views and enums.
select pg_get_indexdef(i.indexrelid) from pg_index i join pg_class c on c.oid = i.indrelid
 where c.relnamespace = 'auth'::regnamespace order by 1;

select format('constraint auth.%s %s %s', relname, conname, pg_get_constraintdef(o.oid))
  from pg_constraint o join pg_class c on c.oid = o.conrelid
 where connamespace = 'auth'::regnamespace and contype <> 'n' order by 1;

select format('%s %s owner %s', case relkind when 'S' then 'sequence' when 'v' then 'view' else relkind::text end, relname, pg_get_userbyid(relowner))
  from pg_class where relnamespace = 'auth'::regnamespace and relkind not in ('r', 'i', 't', 'c') order by 1;

select format('trigger %s', pg_get_triggerdef(t.oid)) from pg_trigger t join pg_class c on c.oid = t.tgrelid
 where c.relnamespace = 'auth'::regnamespace and not tgisinternal order by 1;

select format('policy %s on %s', polname, relname) from pg_policy p join pg_class c on c.oid = p.polrelid
 where c.relnamespace = 'auth'::regnamespace order by 1;

select format('enum %s owner %s: %s', t.typname, pg_get_userbyid(t.typowner), string_agg(e.enumlabel, ', ' order by e.enumsortorder))
  from pg_type t join pg_enum e on e.enumtypid = t.oid where t.typnamespace = 'auth'::regnamespace
 group by t.oid, t.typname, t.typowner order by 1;

-- Functions; the white space of their text counts as one space.
select format('function %s owner %s %s %s %s', p.oid::regprocedure, pg_get_userbyid(p.proowner), pg_get_function_result(p.oid),
         p.provolatile, btrim(lower(regexp_replace(p.prosrc, '\s+', ' ', 'g'))))
  from pg_proc p where p.pronamespace = 'auth'::regnamespace order by p.proname;

-- Comments.
select format('comment on %s: %s', o.identity, d.description)
  from pg_description d, lateral pg_identify_object(d.classoid, d.objoid, d.objsubid) o
 where o.schema = 'auth' or o.type = 'schema' and o.identity = 'auth' or o.identity like 'auth.%' order by 1;

-- Grants to others than the owner; * is the right to grant it further.
select format('grant on %s %s to %s: %s', kind, name, grantee::text, string_agg(privilege_type || case when is_grantable then '*' else '' end, ' ' order by privilege_type))
  from (select case c.relkind when 'S' then 'sequence' else 'table' end as kind, c.relname::text as name, c.relowner as owner, c.relacl as acl
          from pg_class c where c.relnamespace = 'auth'::regnamespace and c.relkind in ('r', 'S')
        union all select 'function', p.oid::regprocedure::text, p.proowner, p.proacl from pg_proc p where p.pronamespace = 'auth'::regnamespace
        union all select 'type', t.typname::text, t.typowner, t.typacl from pg_type t where t.typnamespace = 'auth'::regnamespace) o,
       lateral (select distinct coalesce(nullif(a.grantee, 0)::regrole::text, 'public') as grantee, a.grantee as oid, privilege_type, is_grantable from aclexplode(o.acl) a) a
 where a.oid <> o.owner group by kind, name, grantee order by 1;

select format('default grant on %s by %s to %s: %s', defaclobjtype, pg_get_userbyid(defaclrole), a.grantee::regrole, string_agg(privilege_type, ' ' order by privilege_type))
  from pg_default_acl, lateral aclexplode(defaclacl) a where defaclnamespace = 'auth'::regnamespace
 group by defaclobjtype, defaclrole, a.grantee order by 1;

-- Migrations, without those of before 2019, which the Postgres image records and GoTrue no longer has.
select format('migration %s', version) from auth.schema_migrations where version = '00' or version > '2019' order by version;
