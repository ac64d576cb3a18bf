package auth

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/testdb"
)

var update = flag.Bool("update", false, "rewrite testdata/schema.golden")

// TestSchema compares the tables, columns, types, constraints, indexes and owners with the golden file. GoTrue's migrations
// create the same schema: after a change here, GoTrue or this engine could no longer use the database.
func TestSchema(t *testing.T) {
	conn := testdb.New(t).Conn("supabase_auth_admin")
	var got strings.Builder
	for _, q := range []string{
		`select format('table %s owner %s rls %s', c.relname, pg_get_userbyid(c.relowner), c.relrowsecurity) || E'\n' ||
		        string_agg(format('  %s %s%s%s%s', a.attname, format_type(a.atttypid, a.atttypmod),
		          case when a.attnotnull then ' not null' end, case when a.attgenerated <> '' then ' generated' end,
		          ' default ' || pg_get_expr(d.adbin, d.adrelid)), E'\n' order by a.attnum)
		   from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
		   left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
		  where c.relnamespace = 'auth'::regnamespace and c.relkind = 'r' group by c.oid order by c.relname`,
		`select pg_get_indexdef(i.indexrelid) from pg_index i join pg_class c on c.oid = i.indrelid
		  where c.relnamespace = 'auth'::regnamespace order by 1`,
		`select format('%s %s %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) from pg_constraint
		  where connamespace = 'auth'::regnamespace and contype <> 'n' order by 1`,
		`select format('enum %s %s', t.typname, string_agg(e.enumlabel, ', ' order by e.enumsortorder))
		   from pg_type t join pg_enum e on e.enumtypid = t.oid where t.typnamespace = 'auth'::regnamespace group by t.typname order by 1`,
		`select 'ledger ' || string_agg(version, ' ' order by version) from auth.schema_migrations`,
	} {
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
	const golden = "testdata/schema.golden"
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Error(diff)
	}
}
