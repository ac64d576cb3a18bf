package schemadiff_test

import (
	"context"
	_ "embed"
	"errors"
	"slices"
	"strings"
	"testing"

	"daawo/supabase/internal/database/schemadiff"
	"daawo/supabase/internal/database/testdb"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

func TestMain(m *testing.M) { testdb.Main(m) }

//go:embed testdata/everything.sql
var everything string

func run(t *testing.T, conn *pgx.Conn, sql string) {
	t.Helper()
	if _, err := conn.PgConn().Exec(context.Background(), sql).ReadAll(); err != nil {
		var pg *pgconn.PgError
		if errors.As(err, &pg) && pg.Position > 0 {
			at := int(pg.Position) - 1
			sql = sql[max(0, at-300):min(len(sql), at+200)]
		}
		t.Fatalf("%v at\n%s", err, sql)
	}
}

func read(t *testing.T, conn *pgx.Conn) []schemadiff.Object {
	t.Helper()
	schemas, err := schemadiff.Schemas(t.Context(), conn)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := schemadiff.Read(t.Context(), conn, schemas)
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

func statements(objects []schemadiff.Object) (out []string) {
	for _, o := range objects {
		out = append(out, o.Create)
	}
	slices.Sort(out)
	return out
}

// TestDumpRestores checks that a dump of a database with an object of every kind makes an equal
// database, and that their rows are equal.
func TestDumpRestores(t *testing.T) {
	from, to := testdb.New(t).Conn("postgres"), testdb.New(t).Conn("postgres")
	run(t, from, everything)
	var schema, data strings.Builder
	want := read(t, from)
	if err := schemadiff.Write(&schema, want); err != nil {
		t.Fatal(err)
	}
	schemas, err := schemadiff.Schemas(t.Context(), from)
	if err != nil {
		t.Fatal(err)
	}
	if err := schemadiff.WriteData(t.Context(), from, &data, schemadiff.DataOptions{Schemas: schemas}); err != nil {
		t.Fatal(err)
	}
	run(t, to, schema.String())
	if diff := cmp.Diff(statements(want), statements(read(t, to))); diff != "" {
		t.Errorf("objects differ after the restore:\n%s", diff)
	}
	run(t, to, data.String())
	var again strings.Builder
	if err := schemadiff.WriteData(t.Context(), to, &again, schemadiff.DataOptions{Schemas: schemas}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(data.String(), again.String()); diff != "" || !strings.Contains(data.String(), "O''Neil") {
		t.Errorf("rows differ after the restore:\n%s\n%s", diff, data.String())
	}
	for _, text := range []string{`word text collate pg_catalog."C"`, `shop.word as text collate pg_catalog."C"`} {
		if !strings.Contains(schema.String(), text) {
			t.Errorf("the dump has no %s", text)
		}
	}
	for _, kind := range []string{
		"schema", "extension", "type", "composite type", "domain", "range type", "sequence", "table", "sequence owner",
		"function", "default", "constraint", "check", "view", "index", "foreign key", "rule", "trigger",
		"row level security", "policy", "comment", "grants", "column grants", "publication", "published table",
		"collation", "text search dictionary", "text search configuration", "aggregate",
	} {
		if !slices.ContainsFunc(want, func(o schemadiff.Object) bool { return o.Kind == kind }) {
			t.Errorf("the test has no object of the kind %s", kind)
		}
	}
}

// TestDiffOfPublishedSchema checks publications of all tables of a schema, which superusers create.
func TestDiffOfPublishedSchema(t *testing.T) {
	conn := testdb.New(t).Conn("supabase_admin")
	run(t, conn, `create schema "Shop"; create table "Shop".a (); create publication p`)
	without := read(t, conn)
	run(t, conn, `alter publication p add tables in schema "Shop";
		alter publication supabase_realtime add tables in schema "Shop"`)
	with := read(t, conn)
	now := converge(t, conn, with, without)
	converge(t, conn, now, with)
}

// TestDiff checks that the statements of a diff make the databases equal, in both directions.
func TestDiff(t *testing.T) {
	empty, full := testdb.New(t).Conn("postgres"), testdb.New(t).Conn("postgres")
	run(t, full, everything)
	forth := schemadiff.Diff(read(t, empty), read(t, full))
	run(t, empty, strings.Join(forth, "\n"))
	if rest := schemadiff.Diff(read(t, empty), read(t, full)); len(rest) > 0 {
		t.Errorf("after the diff: %s", strings.Join(rest, "\n"))
	}
	run(t, full, changes)
	run(t, empty, strings.Join(schemadiff.Diff(read(t, empty), read(t, full)), "\n"))
	if rest := schemadiff.Diff(read(t, empty), read(t, full)); len(rest) > 0 {
		t.Errorf("after the diff of the changes: %s", strings.Join(rest, "\n"))
	}
	run(t, full, "drop schema shop cascade; drop publication orders;")
	run(t, empty, strings.Join(schemadiff.Diff(read(t, empty), read(t, full)), "\n"))
	if rest := schemadiff.Diff(read(t, empty), read(t, full)); len(rest) > 0 {
		t.Errorf("after the diff of the drop: %s", strings.Join(rest, "\n"))
	}
}

// changes alter the objects of testdata/everything.sql.
const changes = `
alter table shop.tags set (fillfactor = 80, autovacuum_vacuum_threshold = 10);
alter table shop.tags reset (autovacuum_enabled);
alter table shop.pages set (fillfactor = 90);
alter text search configuration shop.words alter mapping for word with simple;
alter text search configuration shop.words drop mapping for email;
create or replace aggregate shop.largest(int) (sfunc = shop.larger, stype = bigint, initcond = '5');
drop aggregate shop.every_row(*);
alter table shop.customers add column phone text, drop column nickname, alter column email type varchar(200), alter column name drop not null;
alter table shop.customers alter column born set default '2000-01-01', alter column lower_name set not null;
alter type shop.state add value 'returned' after 'paid';
alter type shop.state add value 'draft' before 'new';
create or replace function shop.total(shop.orders) returns numeric language sql stable as 'select $1.price * 2';
drop index shop.orders_customer_idx;
create index orders_customer_idx on shop.orders (customer desc);
alter policy "own orders" on shop.orders using (true);
alter table shop.orders drop constraint price_positive, add constraint price_positive check (price >= 1);
comment on table shop.orders is 'changed';
revoke select on shop.customers from anon;
grant update (name) on shop.customers to authenticated;
drop trigger touched on shop.orders;
alter table shop.customers disable row level security;
create or replace view shop.totals with (security_invoker = true) as select customer, sum(price) as total, count(*) as orders from shop.orders group by customer;
`
