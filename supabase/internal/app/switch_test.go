package app

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/app/installation"
	"daawo/supabase/internal/base/config"
	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/database/server"
	"daawo/supabase/internal/parts"
)

// otherPostgres returns an archive for db.distribution: POSTGRES_ARCHIVE, or the embedded Postgres
// with the clients beside PG_DUMP. docs/evidence/extensions.md says how the tests were run.
func otherPostgres(t *testing.T) string {
	t.Helper()
	if archive := os.Getenv("POSTGRES_ARCHIVE"); archive != "" {
		return archive
	}
	dump := os.Getenv("PG_DUMP")
	if dump == "" {
		t.Skip("neither POSTGRES_ARCHIVE nor PG_DUMP is set: see docs/evidence/extensions.md")
	}
	dir := filepath.Dir(dump)
	return officialArchive(t, dump, filepath.Join(dir, "pg_dumpall"), filepath.Join(dir, "psql"))
}

// switched is a project in a data folder that moves between two distributions.
type switched struct {
	data  string
	store *parts.Store
}

func newSwitched(t *testing.T) switched {
	t.Helper()
	archive, data := otherPostgres(t), dataFolder(t)
	store := &parts.Store{Dir: filepath.Join(data, "parts"), Lock: filepath.Join(data, "parts.lock")}
	if _, err := store.Add(t.Context(), installation.PostgresPart, parts.File(archive)); err != nil {
		t.Fatal(err)
	}
	return switched{filepath.Join(data, "data"), store}
}

func (s switched) app(t *testing.T, distribution string) *App {
	a := newExtended(t, s.data, nil, make(chan string, 100))
	a.Added, a.Config.DB.Distribution = s.store, distribution
	return a
}

// run starts the stack of a distribution for the time of a function.
func (s switched) run(t *testing.T, distribution string, use func(Info)) {
	t.Helper()
	a := s.app(t, distribution)
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	use(a.Info())
	if err := a.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// left returns the entries beside the database that a move may leave.
func (s switched) left(t *testing.T) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(s.data)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "postgres.") && e.Name() != "postgres.vault-key" && e.Name() != "postgres.lock" {
			names = append(names, e.Name())
		}
	}
	return names
}

// want checks a value of the running database.
func (s switched) want(t *testing.T, sql, want string) {
	t.Helper()
	if got := one(t, s.data, sql); got != want {
		t.Errorf("%s: %q, want %q", sql, got, want)
	}
}

const switchedObjects = withoutQueues + `;
select pgmq.send('work', '{"n": 1}')`

const withoutQueues = `
create role reader login password 'reader-1' in role authenticated; alter role reader set statement_timeout = '7s';
create sequence public.numbers start 40 increment 2; select nextval('public.numbers'); select nextval('public.numbers');
create table public.parts (id uuid default gen_random_uuid(), at int, primary key (id, at)) partition by range (at);
create table public.parts_1 partition of public.parts for values from (0) to (100);
insert into public.parts (at) select generate_series(1, 50);
alter table public.parts enable row level security;
create policy own on public.parts for update to reader using (at < 10) with check (at < 20);
create materialized view public.counted as select count(*) as n from public.parts`

// fill gives the stack a user, a file, and objects of the database.
func (s switched) fill(t *testing.T, info Info) {
	t.Helper()
	s.signUpAndUpload(t, info)
	s.exec(t, switchedObjects)
	s.execAs(t, server.Superuser, `alter system set log_min_duration_statement = '9s'`)
}

// signUpAndUpload gives the stack a user and a file.
func (s switched) signUpAndUpload(t *testing.T, info Info) {
	t.Helper()
	api, secret := info.Get("API_URL"), info.Get("SECRET_KEY")
	for _, r := range [][]string{
		{"/auth/v1/signup", `{"email":"amina@example.org","password":"password-1"}`, "application/json"},
		{"/storage/v1/object/avatars/a.png", onePixel, "image/png"},
	} {
		if status, body := call(t, "POST", api+r[0], r[1], "apikey", secret, "Content-Type", r[2]); status != 200 {
			t.Fatalf("%s: %d %s", r[0], status, body)
		}
	}
}

// exec runs statements as role postgres of the running server.
func (s switched) exec(t *testing.T, sql string) {
	t.Helper()
	s.execAs(t, "postgres", sql)
}

// execAs is exec for a role.
func (s switched) execAs(t *testing.T, role, sql string) {
	t.Helper()
	url, err := server.Locate(filepath.Join(s.data, "postgres"))
	if err != nil {
		t.Fatal(err)
	}
	if err := pool.WithConn(t.Context(), url(role), func(conn *pgx.Conn) error {
		_, err := conn.Exec(t.Context(), sql)
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// check checks that everything of fill works. next is the next number of the sequence.
func (s switched) check(t *testing.T, info Info, next string) {
	t.Helper()
	s.checkAPI(t, info)
	s.want(t, `select nextval('public.numbers')::text`, next)
	s.want(t, `select count(*)::text from public.parts_1`, "50")
	s.want(t, `select n::text from public.counted`, "50")
	s.want(t, `select concat(roles, qual, with_check) from pg_policies where policyname = 'own'`,
		"{reader}(at < 10)(at < 20)")
	s.want(t, `select setconfig::text from pg_db_role_setting where setrole = 'reader'::regrole`, "{statement_timeout=7s}")
	s.want(t, `select pg_has_role('reader', 'authenticated', 'usage')::text`, "true")
	s.want(t, `select message::text from pgmq.q_work`, `{"n": 1}`)
	s.want(t, `select decrypted_secret from vault.decrypted_secrets where name = 'hook_token'`, "bearer")
	s.want(t, `select count(*)::text from supabase_migrations.schema_migrations`, "3")
	s.exec(t, `drop extension pgjwt; create extension pgjwt with schema extensions`) // its owner is postgres
	before := one(t, s.data, `select count(*)::text from public.ticks`)
	waitFor(t, "the job", func() bool { return one(t, s.data, `select count(*)::text from public.ticks`) != before })
}

// checkAPI checks the user, the file and the rows of withoutQueues through the gateway.
func (s switched) checkAPI(t *testing.T, info Info) {
	t.Helper()
	api, secret, publishable := info.Get("API_URL"), info.Get("SECRET_KEY"), info.Get("PUBLISHABLE_KEY")
	for _, c := range []struct {
		method, path, body, key string
		status                  int
		want                    string
	}{
		{"POST", "/auth/v1/token?grant_type=password", `{"email":"amina@example.org","password":"password-1"}`,
			publishable, 200, "access_token"},
		{"GET", "/storage/v1/object/public/avatars/a.png", "", publishable, 200, onePixel},
		{"POST", "/rest/v1/notes", `{"text":"anon"}`, publishable, 401, "42501"},
		{"POST", "/rest/v1/notes", `{"text":"service"}`, secret, 201, ""},
		{"GET", "/rest/v1/parts?select=at&at=eq.7", "", secret, 200, `[{"at":7}]`},
		{"GET", "/rest/v1/parts?select=at&at=eq.7", "", publishable, 200, `[]`},
	} {
		status, body := call(t, c.method, api+c.path, c.body, "apikey", c.key, "Content-Type", "application/json")
		if status != c.status || !strings.Contains(body, c.want) {
			t.Errorf("%s %s: %d %s", c.method, c.path, status, body)
		}
	}
	s.checkDeletion(t, info)
}

// checkDeletion checks that the bytes of a deleted object are deleted, which storage only does if
// the files belong to this database.
func (s switched) checkDeletion(t *testing.T, info Info) {
	t.Helper()
	object := info.Get("API_URL") + "/storage/v1/object/avatars/b.png"
	for _, method := range []string{"POST", "DELETE"} {
		status, body := call(t, method, object, onePixel, "apikey", info.Get("SECRET_KEY"), "Content-Type", "image/png")
		if status != 200 {
			t.Errorf("%s %s: %d %s", method, object, status, body)
		}
	}
	files, err := filepath.Glob(filepath.Join(s.data, "storage", "*", "*", "avatars", "b.png", "*"))
	if err != nil || len(files) > 0 {
		t.Errorf("a deleted object left %q, %v", files, err)
	}
}

// A data folder moves to another Postgres and back.
func TestSwitchPostgres(t *testing.T) {
	t.Parallel()
	s := newSwitched(t)
	s.run(t, config.EmbeddedPostgres, func(info Info) { s.fill(t, info) })
	s.run(t, config.EmbeddedPostgres, func(info Info) { s.check(t, info, "44") })
	for _, to := range []struct{ distribution, next string }{
		{config.SupabasePostgres, "46"}, {config.EmbeddedPostgres, "48"},
	} {
		var steps []string
		kept, err := SwitchPostgres(t.Context(), s.app(t, to.distribution), func(step string) { steps = append(steps, step) })
		if err != nil {
			t.Fatal(err)
		}
		named := slices.Contains(steps, "not moved: the settings of ALTER SYSTEM (log_min_duration_statement)")
		if named != (to.distribution == config.SupabasePostgres) {
			t.Errorf("%q", steps)
		}
		if left := s.left(t); !slices.Contains(left, filepath.Base(kept)) {
			t.Errorf("the database before is not in %s: %v", kept, left)
		}
		if _, err := os.Stat(filepath.Join(kept, "PG_VERSION")); err != nil {
			t.Error(err)
		}
		s.run(t, to.distribution, func(info Info) { s.check(t, info, to.next) })
	}
	if left := s.left(t); len(left) != 2 {
		t.Errorf("two moves left %v", left)
	}
}

// A database that a dump cannot carry stays as it was.
func TestSwitchPostgresFails(t *testing.T) {
	t.Parallel()
	s := newSwitched(t)
	s.run(t, config.EmbeddedPostgres, func(info Info) { s.fill(t, info) })
	for _, c := range []struct{ made, want, removed string }{
		{`create database more`, "more databases (more)", `drop database more`},
		// The restore has no search path, so the function does not find its table.
		{`create table known (n int); insert into known values (1);
			create function is_known(int) returns boolean language plpgsql as
			'begin return exists (select from known where n = $1); end';
			create table checked (n int check (is_known(n))); insert into checked values (1)`,
			`relation "known" does not exist`, `drop table checked`},
	} {
		s.run(t, config.EmbeddedPostgres, func(Info) { s.exec(t, c.made) })
		_, err := SwitchPostgres(t.Context(), s.app(t, config.SupabasePostgres), func(string) {})
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "stays as it was") {
			t.Errorf("%s: %v", c.made, err)
		}
		if left := s.left(t); len(left) > 0 {
			t.Errorf("%s: the move left %v", c.made, left)
		}
		s.run(t, config.EmbeddedPostgres, func(Info) { s.exec(t, c.removed) })
	}
	s.run(t, config.EmbeddedPostgres, func(info Info) { s.check(t, info, "44") })
	if _, err := SwitchPostgres(t.Context(), s.app(t, config.SupabasePostgres), func(string) {}); err != nil {
		t.Errorf("with nothing in the way: %v", err)
	}
}
