package messages

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/database/testdb"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// catalogue are queries of the facts that the tenant migrations of supabase/realtime decide:
// tables, columns, types, functions with their arguments and attributes, indexes, constraints,
// triggers, owners, privileges, publications and the ledger. The bodies of functions are ours.
var catalogue = []string{
	`select format('schema %s %s', nspname, array(select acl::text from unnest(nspacl) acl
	         where acl::text !~ '^supabase_admin=' order by acl::text collate "C")) from pg_namespace where nspname = 'realtime'`,
	`select format('table %s kind %s owner %s rls %s %s', c.relname, c.relkind, pg_get_userbyid(c.relowner), c.relrowsecurity,
	         array(select split_part(acl::text, '/', 1) from unnest(c.relacl) acl order by acl::text collate "C")) || E'\n' ||
	        string_agg(format('  %s %s%s%s%s', a.attname, format_type(a.atttypid, a.atttypmod),
	          case when a.attnotnull then ' not null' end, case when a.attgenerated <> '' then ' generated' end,
	          ' default ' || pg_get_expr(d.adbin, d.adrelid)), E'\n' order by a.attnum)
	   from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
	   left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
	  where c.relnamespace = 'realtime'::regnamespace and c.relkind in ('r', 'p', 'S') and not c.relispartition
	  group by c.oid order by c.relname`,
	`select pg_get_indexdef(i.indexrelid) from pg_index i join pg_class c on c.oid = i.indrelid
	  where c.relnamespace = 'realtime'::regnamespace and not c.relispartition order by 1`,
	`select format('%s %s %s valid %s', conrelid::regclass, conname, pg_get_constraintdef(oid), convalidated) from pg_constraint
	  where connamespace = 'realtime'::regnamespace and contype <> 'n' order by 1`,
	`select pg_get_triggerdef(t.oid) from pg_trigger t join pg_class c on c.oid = t.tgrelid
	  where c.relnamespace = 'realtime'::regnamespace and not t.tgisinternal order by 1`,
	`select format('enum %s %s owner %s', t.typname, string_agg(e.enumlabel, ', ' order by e.enumsortorder), pg_get_userbyid(t.typowner))
	   from pg_type t join pg_enum e on e.enumtypid = t.oid where t.typnamespace = 'realtime'::regnamespace
	  group by t.typname, t.typowner order by 1`,
	`select format('type %s (%s) owner %s', t.typname, string_agg(format('%s %s', a.attname, format_type(a.atttypid, a.atttypmod)), ', '
	          order by a.attnum), pg_get_userbyid(t.typowner))
	   from pg_type t join pg_class c on c.oid = t.typrelid and c.relkind = 'c' join pg_attribute a on a.attrelid = c.oid
	  where t.typnamespace = 'realtime'::regnamespace group by t.typname, t.typowner order by 1`,
	`select format('function %s(%s) returns %s %s %s strict %s definer %s config %s owner %s %s', p.proname,
	          pg_get_function_arguments(p.oid), pg_get_function_result(p.oid), l.lanname, p.provolatile, p.proisstrict, p.prosecdef,
	          p.proconfig, pg_get_userbyid(p.proowner),
	          array(select split_part(acl::text, '/', 1) from unnest(p.proacl) acl order by acl::text collate "C"))
	   from pg_proc p join pg_language l on l.oid = p.prolang where p.pronamespace = 'realtime'::regnamespace order by 1`,
	`select format('publication %s all %s insert %s update %s delete %s root %s tables %s', pubname, puballtables, pubinsert, pubupdate,
	          pubdelete, pubviaroot, array(select prrelid::regclass from pg_publication_rel r where r.prpubid = p.oid))
	   from pg_publication p where pubname like 'supabase_realtime%' order by 1`,
	`select format('default privileges %s %s', d.defaclobjtype, array(select split_part(acl::text, '/', 1) from unnest(d.defaclacl) acl
	          order by acl::text collate "C"))
	   from pg_default_acl d where d.defaclnamespace = 'realtime'::regnamespace order by 1`,
	`select 'ledger ' || string_agg(version::text, ' ' order by version) from realtime.schema_migrations`,
}

// TestSchema compares the schema with the golden file, which the tenant migrations of
// supabase/realtime create too. After a change here, Realtime or this engine could no longer use
// the database.
func TestSchema(t *testing.T) {
	conn := testdb.New(t).Conn("supabase_admin")
	var got strings.Builder
	for _, q := range catalogue {
		rows, err := conn.Query(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		got.WriteString(strings.Join(lines, "\n") + "\n\n")
	}
	compareGolden(t, "testdata/schema.golden", got.String())
}

// compareGolden compares a text with a file, or rewrites the file with -update.
func compareGolden(t *testing.T, name, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Error(diff)
	}
}
