package query_test

import (
	"strings"
	"testing"

	"daawo/supabase/internal/cli/query"
	"daawo/supabase/internal/database/testdb"

	"github.com/google/go-cmp/cmp"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// console runs scripts on the database of a test.
func console(t *testing.T) (run func(text string, o query.Options) (string, error), db *testdb.DB) {
	t.Helper()
	db = testdb.New(t)
	conn := db.Conn("postgres").PgConn()
	return func(text string, o query.Options) (string, error) {
		var out strings.Builder
		o.Out = &out
		err := query.Run(t.Context(), conn, query.Script{Text: text}, o)
		return out.String(), err
	}, db
}

// TestFormats checks the output of each format.
func TestFormats(t *testing.T) {
	run, _ := console(t)
	const values = `select * from (values (1, 'tea, "black"', true, '{"a": 1}'::jsonb, 2.50), (20, E'two\nlines\x1b', false, null, 'NaN')) v (id, text, ok, data, price)`
	for name, c := range map[string]struct {
		o    query.Options
		sql  string
		want string
	}{
		"table": {query.Options{Format: "table"}, values, `
 id | text         | ok | data     | price
----+--------------+----+----------+-------
  1 | tea, "black" | t  | {"a": 1} |  2.50
 20 | two↵lines�   | f  | NULL     |   NaN
(2 rows)
`},
		"csv": {query.Options{Format: "csv"}, values, `
id,text,ok,data,price
1,"tea, ""black""",t,"{""a"": 1}",2.50
20,"two
lines` + "\x1b" + `",f,,NaN
`},
		"json": {query.Options{Format: "json"}, values, `
[
  {"id": 1, "text": "tea, \"black\"", "ok": true, "data": {"a": 1}, "price": 2.50},
  {"id": 20, "text": "two\nlines\u001b", "ok": false, "data": null, "price": "NaN"}
]
`},
		"rows only": {query.Options{Format: "table", Bare: true},
			"create table x (); select 1, 'a'; select 2, null", "\n1\ta\n2\t\n"},
		"csv rows only": {query.Options{Format: "csv", Bare: true}, "select 1, 'a'", "\n1,a\n"},
		"json no rows":  {query.Options{Format: "json"}, "select 1 where false", "\n[]\n"},
		"tags": {query.Options{Format: "table"},
			"create table t (id int); insert into t values (1), (2); select id from t limit 1",
			"\nCREATE TABLE\nINSERT 0 2\n id\n----\n  1\n(1 row)\n"},
		"copy": {query.Options{Format: "table"},
			"create table c (x text);\ncopy c from stdin;\na\n\\N\n\\.\ncopy c to stdout",
			"\nCREATE TABLE\nCOPY 2\na\n\\N\n"},
	} {
		got, err := run(c.sql, c.o)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(c.want, "\n"+got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestErrors checks that an error names the line, the detail and the hint, and that it undoes the
// script.
func TestErrors(t *testing.T) {
	run, db := console(t)
	table := query.Options{Format: "table"}
	for name, c := range map[string]struct{ sql, want string }{
		"position": {"create table public.gone (title text);\n\n-- a comment\nselect titel\n\tfrom gone", `
ERROR: column "titel" does not exist (SQLSTATE 42703)
line 4: select titel
               ^
HINT: Perhaps you meant to reference the column "gone.title".
none of the script's statements was applied`},
		"detail": {"\ninsert into pg_temp.k values (1)", `
ERROR: relation "pg_temp.k" does not exist (SQLSTATE 42P01)
line 2: insert into pg_temp.k values (1)
                    ^`},
		"no position": {"create table public.gone (id int primary key);\ninsert into gone values (1);\n-- twice\ninsert into gone values (1);", `
ERROR: duplicate key value violates unique constraint "gone_pkey" (SQLSTATE 23505)
line 4: insert into gone values (1);
DETAIL: Key (id)=(1) already exists.
none of the script's statements was applied`},
		"psql": {"select 1;\n\\d", "\nline 2: \\d is a command of psql, which this program does not have"},
		"commit": {"create table public.gone (id int primary key deferrable initially deferred); insert into gone values (1), (1)", `
ERROR: duplicate key value violates unique constraint "gone_pkey" (SQLSTATE 23505)`},
	} {
		_, err := run(c.sql, table)
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		if diff := cmp.Diff(c.want, "\n"+err.Error()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if testdb.Value[bool](db, `select to_regclass('public.gone') is not null`) {
		t.Error("a failed script left a table")
	}
	for _, sql := range []string{
		"create table public.stays (); vacuum; select 1 / 0", // VACUUM cannot run inside a transaction
		"begin; create table public.stays2 (); commit; select 1 / 0",
	} {
		if _, err := run(sql, table); err == nil || strings.Contains(err.Error(), "none of") {
			t.Errorf("%s: %v", sql, err)
		}
	}
	if !testdb.Value[bool](db,
		`select to_regclass('public.stays') is not null and to_regclass('public.stays2') is not null`) {
		t.Error("statements with a transaction of their own were undone")
	}
	_, err := run("create table public.refused ()", query.Options{Format: "table", ReadOnly: true})
	if err == nil || !strings.Contains(err.Error(), "HINT: A nearly full disk, ") {
		t.Errorf("a read-only script: %v", err)
	}
}

// TestTables checks the lists of --tables.
func TestTables(t *testing.T) {
	run, db := console(t)
	if _, err := run(`
		create table public.notes (id bigint generated always as identity primary key, title text not null default 'new', made date);
		comment on table public.notes is 'What users write';
		create index on public.notes (made);
		alter table public.notes enable row level security;
		create policy "all read" on public.notes for select to anon using (made is not null);
		create table public.tags (note bigint references public.notes);
		create view public.old as select id from public.notes;`, query.Options{Format: "csv"}); err != nil {
		t.Fatal(err)
	}
	conn := db.Conn("postgres").PgConn()
	for name, wants := range map[string][]string{
		"":             {"public,notes,table,on,", "What users write", "public,old,view,", "public,tags,table,off"},
		"public":       {"public,notes,table,on,"},
		"auth":         {"auth,users,table,"},
		"public.notes": {"id,bigint,not null,generated always as identity", "title,text,not null,'new'::text"},
	} {
		var out strings.Builder
		if err := query.Tables(t.Context(), conn, name, query.Options{Out: &out, Format: "csv"}); err != nil {
			t.Errorf("%q: %v", name, err)
		}
		for _, want := range wants {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%q: no %q in\n%s", name, want, out.String())
			}
		}
		if name == "" && strings.Contains(out.String(), "auth,") {
			t.Error("the schemas of the platform are listed")
		}
	}
	var out strings.Builder
	if err := query.Tables(t.Context(), conn, "notes", query.Options{Out: &out, Format: "table"}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Indexes:\n  CREATE UNIQUE INDEX notes_pkey", "Constraints:\n  notes_pkey: PRIMARY KEY (id)",
		"Referenced by:\n  tags: FOREIGN KEY (note)",
		"Policies:\n  all read: permissive for select to anon using ((made IS NOT NULL))",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	if err := query.Tables(t.Context(), conn, "nots", query.Options{Out: &out}); err == nil {
		t.Error("an unknown table is no error")
	}
}
