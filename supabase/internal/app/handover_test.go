package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/edge"
	"daawo/supabase/internal/app/control"
	"daawo/supabase/internal/app/database"
	"daawo/supabase/internal/app/datadir"
	"daawo/supabase/internal/app/handover"
	"daawo/supabase/internal/app/lifecycle"
	"daawo/supabase/internal/database/migrate"
	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/database/server"
)

// withMigration returns the project of the tests with one more migration.
func withMigration(name, sql string) fs.FS {
	next := fstest.MapFS{}
	for file, content := range project {
		next[file] = content
	}
	next["migrations/"+name] = &fstest.MapFile{Data: []byte(sql)}
	return next
}

// running is a server of a test that runs as the program does.
type running struct {
	info Info
	done chan error
}

func runApp(t *testing.T, a *App) running {
	t.Helper()
	r := running{done: make(chan error, 1)}
	ready := make(chan Info, 1)
	go func() { r.done <- a.Run(t.Context(), func(i Info) { ready <- i }) }()
	select {
	case r.info = <-ready:
	case err := <-r.done:
		t.Fatal(err)
	}
	return r
}

// TestUpgradeOfRunningServer replaces a server twice by one with another migration, with a call in
// flight each time, and once by one whose migration fails. The calls get their replies, Postgres
// and the addresses stay, and the failed one changes nothing.
func TestUpgradeOfRunningServer(t *testing.T) {
	data := dataFolder(t)
	begun, release := make(chan struct{}, 1), make(chan struct{})
	slow := edge.Func{NoVerifyJWT: true, Handler: func(w http.ResponseWriter, _ *http.Request, _ *edge.Env) error {
		begun <- struct{}{}
		<-release
		return edge.WriteJSON(w, http.StatusOK, "whole")
	}}
	prepare := func(version string, project fs.FS) *App {
		a := newApp(t, data, nil)
		a.Version, a.Project = version, project
		a.Functions = map[string]edge.Func{"slow": slow, "add-note": functions["add-note"]}
		return a
	}
	first := prepare("1", project)
	versions := []*App{
		prepare("bad", withMigration("20260103000000_bad.sql", "create table public.half (id int); select 1/0;")),
		prepare("2", withMigration("20260103000000_more.sql", "create table public.more (id int)")),
		prepare("3", withMigration("20260103000000_more.sql", "create table public.more (id int)")),
		prepare("3 again", withMigration("20260103000000_more.sql", "create table public.more (id int)")),
	}
	last := versions[2]
	first.process.Spawn = func(ctx context.Context, _ handover.Program, facts any,
		files *handover.Files) (*handover.Server, error) {
		next := versions[0]
		versions = versions[1:]
		return handover.StartWithin(ctx, facts, files, func(connect handover.Connect) (err error) {
			if err = next.process.Connect(connect); err != nil {
				return err
			}
			return next.Run(context.Background(), func(Info) {})
		})
	}
	r := runApp(t, first)
	api := r.info.Get("API_URL")
	pg, _, err := server.Attach(server.Options{Source: packageOf(t), Data: datadir.Postgres(data)})
	if err != nil {
		t.Fatal(err)
	}
	var u lifecycle.Upgraded
	if err := control.Command(t.Context(), data, "/upgrade", &u); err == nil ||
		!strings.Contains(err.Error(), "the running one continues") ||
		!strings.Contains(err.Error(), "division by zero") {
		t.Errorf("a failing migration: %v", err)
	}
	if status, body := call(t, "GET", api+"/rest/v1/half", "", "apikey", r.info.Get("SECRET_KEY")); status != 404 {
		t.Errorf("the failed migration left a table: %d %s", status, body)
	}
	upgradeTwice(t, data, r.info, begun, release)
	checkRestart(t, data, r.info, last)
	if now, _, err := server.Attach(server.Options{Source: packageOf(t), Data: datadir.Postgres(data)}); err != nil ||
		now.Port() != pg.Port() {
		t.Errorf("Postgres did not stay: %v", err)
	}
	if err := newApp(t, data, nil).Start(t.Context()); err == nil || !strings.Contains(err.Error(), "already runs") {
		t.Errorf("a second server on the same folder: %v", err)
	}
	var none struct{}
	if err := control.Command(t.Context(), data, "/stop", &none); err != nil {
		t.Fatal(err)
	}
	if err := <-r.done; err != nil || datadir.Locked(data) {
		t.Errorf("stop: %v, locked %t", err, datadir.Locked(data))
	}
	http.DefaultClient.CloseIdleConnections()
}

// checkRestart lets the serving process fail. Another one takes its place, and no connection is
// refused until then.
func checkRestart(t *testing.T, data string, info Info, serving *App) {
	t.Helper()
	http.DefaultClient.CloseIdleConnections()
	serving.Fail(errors.New("a part failed"))
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		conn, err := net.DialTimeout("tcp", strings.TrimPrefix(info.Get("API_URL"), "http://"), 10*time.Second)
		if err != nil {
			t.Fatalf("refused while the process is restarted: %v", err)
		}
		_ = conn.Close()
		var asked Info
		if control.Command(t.Context(), data, "/status", &asked) == nil && asked.Version == "3 again" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("no process took the place of the failed one")
		}
	}
	if status, _ := call(t, "GET", info.Get("API_URL")+"/rest/v1/more", "", "apikey",
		info.Get("SECRET_KEY")); status != 200 {
		t.Errorf("after the restart: %d", status)
	}
}

// upgradeTwice upgrades to the versions 2 and 3 with a call in flight.
func upgradeTwice(t *testing.T, data string, info Info, begun <-chan struct{}, release chan<- struct{}) {
	t.Helper()
	api := info.Get("API_URL")
	var u lifecycle.Upgraded
	var calls sync.WaitGroup
	for _, version := range []string{"2", "3"} {
		calls.Go(func() {
			if status, body := call(t, "GET", api+"/functions/v1/slow", ""); status != 200 ||
				!strings.Contains(body, "whole") {
				t.Errorf("the call in flight: %d %s", status, body)
			}
		})
		<-begun
		if err := control.Command(t.Context(), data, "/upgrade", &u); err != nil || u.Version != version {
			t.Fatalf("upgrade to %s: %+v %v", version, u, err)
		}
		release <- struct{}{}
		var asked Info
		if err := control.Command(t.Context(), data, "/status", &asked); err != nil || asked.Version != version ||
			fmt.Sprint(asked.Values) != fmt.Sprint(info.Values) {
			t.Errorf("status of %s: %v\n%v\n%v", version, err, asked, info)
		}
		if status, body := call(t, "POST", api+"/functions/v1/add-note", `{"text":"`+version+`"}`, "Content-Type",
			"application/json"); status != 200 {
			t.Errorf("a call of %s: %d %s", version, status, body)
		}
		if status, _ := call(t, "GET", api+"/rest/v1/more", "", "apikey", info.Get("SECRET_KEY")); status != 200 {
			t.Errorf("the new table in %s: %d", version, status)
		}
	}
	calls.Wait()
}

func packageOf(t *testing.T) fs.FS {
	t.Helper()
	source, err := server.FindPackage(".")
	if err != nil {
		t.Fatal(err)
	}
	return source
}

// TestMigrateBesideServer checks that migrations are applied while a server runs, which then serves
// the new table, and that the server keeps its database password.
func TestMigrateBesideServer(t *testing.T) {
	data := dataFolder(t)
	info := start(t, newApp(t, data, nil))
	beside := func(project fs.FS) *App {
		a := newApp(t, data, map[string]string{"DAAWO_HOST": "0.0.0.0", "SITE_URL": "https://example.org",
			"ADMIN_EMAIL": "a@example.org",
			"SMTP_HOST":   "127.0.0.1", "SMTP_ADMIN_EMAIL": "b@example.org"}) // other settings than the server's
		a.Project = project
		return a
	}
	more := withMigration("20260103000000_more.sql", "create table public.more (id int)")
	err := beside(more).WithDatabase(t.Context(), func(conn *pgx.Conn) error {
		pending, err := migrate.Pending(t.Context(), conn, more)
		if err == nil && (len(pending) != 1 || pending[0].Name != "more") {
			t.Errorf("pending: %v", pending)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if err := beside(more).Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the new table", func() bool {
		status, _ := call(t, "GET", info.Get("API_URL")+"/rest/v1/more", "", "apikey", info.Get("SECRET_KEY"))
		return status == 200
	})
	if err := pool.WithConn(t.Context(), info.Get("DB_URL"), noWork); err != nil {
		t.Error("the password of the database changed:", err)
	}
	if _, err := os.Stat(database.PasswordFile(data)); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a password was made for a server that has one:", err)
	}
}

// TestKeeperOfOtherRelease checks that a server refuses a keeper whose messages it may not
// understand.
func TestKeeperOfOtherRelease(t *testing.T) {
	a := newApp(t, dataFolder(t), nil)
	_, err := handover.StartWithin(t.Context(), map[string]int{"protocol": 1 << 30}, &handover.Files{},
		func(connect handover.Connect) (err error) {
			if err = a.process.Connect(connect); err != nil {
				return err
			}
			return a.Run(context.Background(), func(Info) {})
		})
	if err == nil || !strings.Contains(err.Error(), "restart the server instead") {
		t.Error(err)
	}
}

func noWork(*pgx.Conn) error { return nil }
