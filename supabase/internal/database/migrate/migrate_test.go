package migrate_test

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"daawo/supabase/internal/database/migrate"
	"daawo/supabase/internal/database/testdb"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
)

func TestMain(m *testing.M) { testdb.Main(m) }

func project(files map[string]string) fs.FS {
	m := fstest.MapFS{}
	for name, text := range files {
		m[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return m
}

func TestApplyIsAtomic(t *testing.T) {
	db := testdb.New(t)
	conn := db.Conn("postgres")
	ctx := t.Context()
	files := map[string]string{
		"migrations/1_first.sql":  `create table a (id int);`,
		"migrations/2_second.sql": "begin;\ncreate table b (id int);\ncreate table c (id nonsense);\ncommit;\n",
		"migrations/3_third.sql":  `create table d (id int);`,
		"migrations/README.sql":   `not a migration`,
	}
	applied, err := migrate.Apply(ctx, conn, project(files))
	if err == nil || !strings.Contains(err.Error(),
		"2_second.sql: line 3, statement 3 (create table c (id nonsense)): ERROR:") {
		t.Fatalf("got error %v, want one that names file, statement and line", err)
	}
	if len(applied) != 1 {
		t.Errorf("applied %v, want only the first", applied)
	}
	if got := tables(db); got != "a" {
		t.Errorf("tables %q, want only a: the failed migration must leave nothing", got)
	}
	files["migrations/2_second.sql"] = `create table b (id int);`
	pending, err := migrate.Pending(ctx, conn, project(files))
	if err != nil || len(pending) != 2 {
		t.Errorf("pending %v, %v, want two", pending, err)
	}
	for range 2 { // the second run has nothing to do
		if _, err := migrate.Apply(ctx, conn, project(files)); err != nil {
			t.Fatal(err)
		}
	}
	if got := tables(db); got != "a b d" {
		t.Errorf("tables %q, want a b d", got)
	}
}

// TestApplyTransactionControl checks that COMMIT and ROLLBACK in a migration act as with the
// official CLI, such as after a new value of an enum, which cannot be used before a commit.
func TestApplyTransactionControl(t *testing.T) {
	for name, c := range map[string]struct{ text, want, fails string }{
		"commit":     {"begin; create type e as enum ('x'); create table a (v e); commit; alter type e add value 'y'; end work; create index on a (v) where v = 'y'; commit", "a", ""},
		"chain":      {"create table a (); commit and chain; create table b ()", "a b", ""},
		"rollback":   {"create table a (); rollback; create table b ()", "b", ""},
		"at the end": {"begin; create table a (); rollback", "", ""},
		"fails later": {"create table a (); commit; create table b (); select 1 / 0", "a",
			"line 1, statement 4 (select 1 / 0): ERROR: division by zero (SQLSTATE 22012)\nthe changes before the file's COMMIT (statement 2) stay"},
		"fails": {"begin; create table a (); select 1 / 0; commit", "", "division by zero"},
	} {
		t.Run(name, func(t *testing.T) {
			db := testdb.New(t)
			applied, err := migrate.Apply(t.Context(), db.Conn("postgres"),
				project(map[string]string{"migrations/1_x.sql": c.text}))
			if c.fails == "" && (err != nil || len(applied) != 1) || c.fails != "" &&
				(err == nil || !strings.Contains(err.Error(), c.fails)) {
				t.Errorf("applied %v, error %v, want %q", applied, err, c.fails)
			}
			if got := tables(db); got != c.want {
				t.Errorf("tables %q, want %q", got, c.want)
			}
		})
	}
}

func TestApplyIgnoresNewerMigrations(t *testing.T) {
	db := testdb.New(t)
	conn := db.Conn("postgres")
	both := map[string]string{"migrations/1_a.sql": `create table a ()`, "migrations/2_b.sql": `create table b ()`}
	if _, err := migrate.Apply(t.Context(), conn, project(both)); err != nil {
		t.Fatal(err)
	}
	delete(both, "migrations/2_b.sql")
	if applied, err := migrate.Apply(t.Context(), conn, project(both)); err != nil || len(applied) != 0 {
		t.Errorf("got %v, %v, want nothing applied", applied, err)
	}
}

func TestConcurrentApply(t *testing.T) {
	db := testdb.New(t)
	p := project(map[string]string{"migrations/1_a.sql": `create table a (); select pg_sleep(0.05)`,
		"migrations/2_b.sql": `create table b ()`})
	var wg sync.WaitGroup
	for range 4 {
		conn := db.Conn("postgres")
		wg.Go(func() {
			if _, err := migrate.Apply(t.Context(), conn, p); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func TestSeedRunsOnce(t *testing.T) {
	db := testdb.New(t)
	conn := db.Conn("postgres")
	db.Exec(`create table public.a (id int)`)
	files := map[string]string{"seed.sql": `insert into a values (1);`, "more/x.sql": `insert into a values (2);`}
	paths := []string{"./seed.sql", "./more/*.sql", "seed.sql"}
	for i, want := range [][]string{{"seed.sql", "more/x.sql"}, nil} {
		ran, err := migrate.Seed(t.Context(), conn, project(files), paths)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, ran); diff != "" {
			t.Errorf("run %d: %s", i, diff)
		}
		files["seed.sql"] += "\n" // a changed file is recorded but not run again
	}
	if n := testdb.Value[int](db, `select count(*)::int from public.a`); n != 2 {
		t.Errorf("got %d rows, want 2", n)
	}
}

// TestSeedRollback checks that a seed that rolls its statements back is recorded.
func TestSeedRollback(t *testing.T) {
	db := testdb.New(t)
	conn := db.Conn("postgres")
	files := project(map[string]string{"seed.sql": "create table public.a (); rollback"})
	for i, want := range []int{1, 0} {
		if ran, err := migrate.Seed(t.Context(), conn, files, []string{"seed.sql"}); err != nil || len(ran) != want {
			t.Errorf("run %d: %v, %v", i, ran, err)
		}
	}
}

// Postgres refuses writes on a nearly full disk. The program must still start.
func TestNothingPendingNeedsNoWrites(t *testing.T) {
	db := testdb.New(t)
	site := os.DirFS("../../..")
	all := func(role string) error {
		conn := db.Conn(role)
		ctx := t.Context()
		if err := migrate.Platform(ctx, conn); err != nil {
			return err
		}
		if _, err := migrate.Apply(ctx, conn, site); err != nil {
			return err
		}
		_, err := migrate.Seed(ctx, conn, site, []string{"./seed.sql"})
		return err
	}
	if err := all("postgres"); err != nil {
		t.Fatal(err)
	}
	db.ExecAs("supabase_admin", `alter database `+db.Name+` set default_transaction_read_only = on`)
	if err := all("postgres"); err != nil {
		t.Errorf("on a read-only database: %v", err)
	}
}

func TestPlatformIsIdempotent(t *testing.T) {
	db := testdb.New(t)
	conn := db.Conn("supabase_admin")
	ctx := t.Context()
	before := testdb.Value[string](db, `select max(applied_at)::text from daawo.platform`)
	if err := migrate.Platform(ctx, conn); err != nil {
		t.Fatal(err)
	}
	if now := testdb.Value[string](db, `select max(applied_at)::text from daawo.platform`); now != before {
		t.Error("a second run applied something")
	}
	if err := migrate.Platform(ctx, db.Conn("postgres")); err != nil {
		t.Errorf("nothing pending, role without superuser: %v", err)
	}
	// Every file can run again: that is how a changed file is applied.
	db.ExecAs("supabase_admin", `update daawo.platform set hash = 'an older one'`)
	if err := migrate.Platform(ctx, conn); err != nil {
		t.Error(err)
	}
}

// The official CLI and this package write the same records, so each finds
// nothing to do after the other.
func TestRecordsLikeOfficialCLI(t *testing.T) {
	for name, dir := range map[string]string{"tricky": "testdata/tricky", "site": "../../../.."} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ours, theirs := testdb.New(t), testdb.New(t)
			fsys := os.DirFS(filepath.Join(dir, "supabase"))
			paths := []string{"./seed.sql", "./more/*.sql"}
			if _, err := migrate.Apply(t.Context(), ours.Conn("postgres"), fsys); err != nil {
				t.Fatal(err)
			}
			if _, err := migrate.Seed(t.Context(), ours.Conn("postgres"), fsys, paths); err != nil {
				t.Fatal(err)
			}
			if out := push(t, theirs, dir); !strings.Contains(out, "Applying migration") {
				t.Errorf("the CLI applied nothing to a new database:\n%s", out)
			}
			if out := push(t, ours, dir); !strings.Contains(out, "up to date") {
				t.Errorf("the CLI has pending migrations after ours:\n%s", out)
			}
			if applied, err := migrate.Apply(t.Context(), theirs.Conn("postgres"), fsys); err != nil ||
				len(applied) != 0 {
				t.Errorf("applied %v after the CLI, error %v", applied, err)
			}
			if diff := cmp.Diff(records(t, theirs), records(t, ours)); diff != "" {
				t.Errorf("records differ (-CLI +ours):\n%s", diff)
			}
		})
	}
}

func push(t *testing.T, db *testdb.DB, dir string) string {
	t.Helper()
	cli, err := filepath.Abs("../../../../node_modules/.bin/supabase")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), cli, "db", "push", "--yes", "--include-seed", "--workdir", dir, "--remote",
		db.TCPURL("postgres"))
	cmd.Env = append(os.Environ(), "PGSSLMODE=disable", "DO_NOT_TRACK=1", "HOME="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("supabase db push: %v\n%s", err, out)
	}
	return string(out)
}

// records returns all that the CLI stores about migrations and seeds, with the
// columns' names and types.
func records(t *testing.T, db *testdb.DB) []string {
	t.Helper()
	rows, err := db.Conn("postgres").Query(context.Background(), `
		select to_jsonb(m)::text from supabase_migrations.schema_migrations m
		union all select to_jsonb(s)::text from supabase_migrations.seed_files s
		union all
		select format('%s.%s %s %s', table_name, column_name, data_type, is_nullable)
		from information_schema.columns where table_schema = 'supabase_migrations'
		order by 1`)
	if err != nil {
		t.Fatal(err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func tables(db *testdb.DB) string {
	return testdb.Value[string](db,
		`select coalesce(string_agg(tablename, ' ' order by tablename), '') from pg_tables where schemaname = 'public'`)
}

// TestRightsOfPostgres checks what the role postgres may do on Supabase with the help of an
// extension in C.
func TestRightsOfPostgres(t *testing.T) {
	db := testdb.New(t)
	conn := db.Conn("postgres")
	_, err := migrate.Apply(t.Context(), conn, project(map[string]string{
		"migrations/1_publication.sql": "create publication everything for all tables with (publish = 'insert');",
		"migrations/2_block.sql":       "do $$ begin create publication more for all tables; end $$;",
		"migrations/3_setting.sql":     "alter role authenticator set pgrst.db_aggregates_enabled to 'true';",
		"migrations/4_replica.sql":     "set session_replication_role = replica;",
		"migrations/5_schemas.sql": `create schema "Own"; create table "Own".a ();
			create publication listed for tables in schema "Own";
			alter publication supabase_realtime add tables in schema "Own", public;
			alter publication listed drop tables in schema "Own";
			alter publication listed set tables in schema "Own";`,
		"migrations/6_extension.sql": `create extension pg_trgm schema public;
			alter extension pg_trgm set schema extensions;
			do $$ begin if true then alter extension pg_trgm set schema "Own"; end if; end $$;`,
	}))
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := conn.QueryRow(t.Context(),
		`select count(*) from pg_publication where puballtables`).Scan(&n); err != nil || n != 2 {
		t.Errorf("%d publications, %v", n, err)
	}
	if err := conn.QueryRow(t.Context(), `select extnamespace from pg_extension
		where extname = 'pg_trgm' and extnamespace = '"Own"'::regnamespace`).Scan(nil); err != nil {
		t.Errorf("the extension was not moved: %v", err)
	}
	for _, move := range []string{`'pg_trgm', 'pg_catalog'`, `'plpgsql', 'public'`, `'pg_trgm', 'nowhere'`} {
		if _, err := conn.Exec(t.Context(), "select daawo.move_extension("+move+")"); err == nil {
			t.Errorf("an extension is moved: %s", move)
		}
	}
	if err := conn.QueryRow(t.Context(), `select count(*) from pg_publication_tables where schemaname = 'Own'
		and pubname in ('listed', 'supabase_realtime')`).Scan(&n); err != nil || n != 2 {
		t.Errorf("%d tables of a published schema, %v", n, err)
	}
	if _, err := conn.Exec(t.Context(), `select daawo.publish_schemas('everything', 'add', '{public}')`); err == nil ||
		!strings.Contains(err.Error(), "must be owner") {
		t.Errorf("a publication of a superuser: %v", err)
	}
	if _, err := conn.Exec(t.Context(),
		`select daawo.publish_all_tables('x', 'publish = ''insert''); drop table a; --')`); err == nil {
		t.Error("options with a statement are accepted")
	}
	if _, err := db.Conn("authenticator").Exec(t.Context(), `select daawo.publish_all_tables('x', '')`); err == nil {
		t.Error("authenticator creates a publication")
	}
}
