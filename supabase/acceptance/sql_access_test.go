package acceptance

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// callers are the kinds of callers in the golden file: without an account, two accounts, and
// service_role.
var callers = []struct{ name, role, claims string }{
	{"anon", "anon", `{"role":"anon"}`},
	{"user A", "authenticated", `{"role":"authenticated","sub":"aaaaaaaa-0000-4000-8000-000000000000"}`},
	{"user B", "authenticated", `{"role":"authenticated","sub":"bbbbbbbb-0000-4000-8000-000000000000"}`},
	{"service", "service_role", `{"role":"service_role"}`},
}

// relations lists every table and view except the ones of Postgres itself, migrations and jobs.
const relations = `
	select c.oid, format('%I.%I', n.nspname, c.relname) as name, c.relkind::text, c.relrowsecurity
	  from pg_class c
	  join pg_namespace n on n.oid = c.relnamespace
	 where c.relkind in ('r', 'p', 'v', 'm', 'f')
	   and n.nspname not in ('pg_catalog', 'information_schema', 'extensions', 'river', 'supabase_migrations')
	   and n.nspname not like 'pg_toast%' and n.nspname not like 'pg_temp%'
	 order by name`

// fixture adds rows of user A and rows without an owner.
const fixture = `
	insert into public.reports (product_name, issue_description) values ('cream', 'rash');
	insert into public.resources (title, category, file_url, file_type, is_active) values
	  ('shown', 'Safety', '#', 'application/pdf', true), ('hidden', 'Safety', '#', 'application/pdf', false);
	insert into storage.objects (bucket_id, name, owner, owner_id) values
	  ('report-photos', '1700000000000.jpg', 'aaaaaaaa-0000-4000-8000-000000000000', 'aaaaaaaa-0000-4000-8000-000000000000'),
	  ('resources', 'guide.pdf', null, null);`

// TestSQLAccess compares what each kind of caller can do with every table and view with a reviewed
// file. A new table fails the test until its access is reviewed.
func TestSQLAccess(t *testing.T) {
	tdb := newDatabase(t)
	tdb.ExecAs("supabase_admin", fixture)
	conn := tdb.Conn("supabase_admin")

	var b strings.Builder
	for _, r := range listRelations(t, conn) {
		fmt.Fprintf(&b, "%s (%s)\n", r.name, r.describe())
		for _, c := range callers {
			fmt.Fprintf(&b, "    %-8s %s\n", c.name, access(t, conn, r, c.role, c.claims))
		}
	}
	compareGolden(t, "testdata/sql-access.golden", b.String())
}

// TestExposedTablesHaveRowSecurity checks that row level security is on for every table that the
// API can reach.
func TestExposedTablesHaveRowSecurity(t *testing.T) {
	conn := newDatabase(t).Conn("supabase_admin")
	for _, r := range listRelations(t, conn) {
		schema, _, _ := strings.Cut(r.name, ".")
		switch schema {
		case "public", "storage", "graphql_public", "private", "edge_functions":
			if (r.kind == "r" || r.kind == "p") && !r.rowSecurity {
				t.Errorf("%s has no row level security", r.name)
			}
		}
	}
}

// TestFunctionsForAnon compares the functions that anon may call with a reviewed file. Each is
// reachable at /rest/v1/rpc if its schema is exposed.
func TestFunctionsForAnon(t *testing.T) {
	conn := newDatabase(t).Conn("supabase_admin")
	rows, err := conn.Query(context.Background(), `
		select format('%s %I.%I(%s)', case when p.prosecdef then 'DEFINER' else 'invoker' end,
		              n.nspname, p.proname, pg_get_function_identity_arguments(p.oid))
		  from pg_proc p join pg_namespace n on n.oid = p.pronamespace
		 where n.nspname not in ('pg_catalog', 'information_schema', 'extensions')
		   and has_schema_privilege('anon', n.oid, 'usage') and has_function_privilege('anon', p.oid, 'execute')
		   and p.prorettype <> 'trigger'::regtype and p.prorettype <> 'event_trigger'::regtype
		 order by n.nspname, p.proname, 1`)
	if err != nil {
		t.Fatal(err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	compareGolden(t, "testdata/functions.golden", strings.Join(names, "\n")+"\n")
}

type relation struct {
	oid         uint32
	name, kind  string
	rowSecurity bool
}

func (r relation) describe() string {
	kind := map[string]string{"r": "table", "p": "partitioned table", "v": "view", "m": "materialized view",
		"f": "foreign table"}[r.kind]
	if r.rowSecurity {
		return kind + ", row security"
	}
	return kind
}

func listRelations(t *testing.T, conn *pgx.Conn) []relation {
	t.Helper()
	rows, err := conn.Query(context.Background(), relations)
	if err != nil {
		t.Fatal(err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (relation, error) {
		var r relation
		return r, row.Scan(&r.oid, &r.name, &r.kind, &r.rowSecurity)
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// access tries what the caller can do with the relation, in transactions that it rolls back.
func access(t *testing.T, conn *pgx.Conn, r relation, role, claims string) string {
	t.Helper()
	column := firstColumn(t, conn, r.oid)
	tries := []struct{ name, sql string }{
		{"select", "select count(*) from (select * from " + r.name + ") x"},
		{"insert", "insert into " + r.name + " default values"},
		{"update", fmt.Sprintf("update %s set %[2]s = %[2]s where true", r.name, column)},
		{"delete", "delete from " + r.name},
		{"order by " + column, fmt.Sprintf("select count(*) from (select 1 from %s order by %s) x", r.name, column)},
	}
	var words []string
	for _, try := range tries {
		words = append(words, try.name+" "+attempt(t, conn, role, claims, try.sql))
	}
	return strings.Join(words, ", ")
}

// attempt runs one statement as the caller and returns the number of its rows, or how access was
// denied. For another error, such as a violated constraint, it returns "allowed".
func attempt(t *testing.T, conn *pgx.Conn, role, claims, sql string) string {
	t.Helper()
	ctx := context.Background()
	tx, err := conn.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(ctx)
	if _, err := tx.Exec(ctx, `select set_config('request.jwt.claims', $1, true), set_config('role', $2, true)`, claims,
		role); err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(sql, "select") {
		var n int
		if err := tx.QueryRow(ctx, sql).Scan(&n); err != nil {
			return outcome(err)
		}
		return fmt.Sprint(n)
	}
	tag, err := tx.Exec(ctx, sql)
	if err != nil {
		return outcome(err)
	}
	return fmt.Sprint(tag.RowsAffected())
}

func outcome(err error) string {
	text := err.Error()
	switch {
	case strings.Contains(text, "permission denied"):
		return "denied"
	case strings.Contains(text, "row-level security"):
		return "refused by policy"
	case strings.Contains(text, "cannot insert into") || strings.Contains(text, "cannot update") ||
		strings.Contains(text, "cannot delete from"):
		return "impossible"
	case strings.Contains(text, "not allowed") && strings.Contains(text, "storage"):
		return "refused by trigger"
	default:
		return "allowed"
	}
}

func firstColumn(t *testing.T, conn *pgx.Conn, oid uint32) string {
	t.Helper()
	var name string
	err := conn.QueryRow(context.Background(), `
		select quote_ident(attname) from pg_attribute
		 where attrelid = $1 and attnum > 0 and not attisdropped and attgenerated = '' order by attnum limit 1`,
		oid).Scan(&name)
	if err != nil {
		t.Fatal(err)
	}
	return name
}

func compareGolden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs; review the difference, and if it is intended: go test ./supabase/acceptance -update\n%s",
			file, diff)
	}
}
