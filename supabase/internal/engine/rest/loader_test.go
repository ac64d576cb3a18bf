package rest_test

import (
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// TestReloadChangedType checks that a filter has the new type of its column although connections
// prepared it with the old type.
func TestReloadChangedType(t *testing.T) {
	b := open(t, nil)
	ask := func(url string) string {
		w := httptest.NewRecorder()
		b.engine.ServeHTTP(w, scenario{url: url}.request(t))
		return w.Body.String()
	}
	loaded := func(table string) {
		t.Helper()
		b.db.Exec(`create table api.` + table + ` (); grant select on api.` + table +
			` to anon; notify pgrst, 'reload schema'`)
		for end := time.Now().Add(time.Minute); ask("/"+table) != "[]"; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal(ask("/" + table))
			}
		}
	}
	b.db.Exec(`create table api.sized (id int); insert into api.sized values (5); grant select on api.sized to anon`)
	loaded("one")
	all := func(url, want string) {
		t.Helper()
		var clients sync.WaitGroup
		for range 32 {
			clients.Go(func() {
				if got := ask(url); got != want {
					t.Errorf("%s: %s, want %s", url, got, want)
				}
			})
		}
		clients.Wait()
	}
	all("/sized?id=eq.5", `[{"id":5}]`)
	b.db.Exec(`alter table api.sized alter id type text using 'five'`)
	loaded("two")
	all("/sized?id=eq.five", `[{"id":"five"}]`)
}

// TestReload checks that a notification reloads the schema, and that requests succeed during the
// reload.
func TestReload(t *testing.T) {
	b := open(t, nil)
	b.run(t, []scenario{{name: "before", url: "/fresh", status: 404}})
	b.db.Exec(`create table api.fresh (id int); grant select on api.fresh to anon; notify pgrst, 'reload schema'`)
	deadline := time.Now().Add(time.Minute)
	for {
		w := httptest.NewRecorder()
		b.engine.ServeHTTP(w, scenario{url: "/fresh"}.request(t))
		if w.Code == 200 {
			break
		}
		if w.Code != 404 || time.Now().After(deadline) {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		b.run(t, []scenario{{name: "during the reload", url: "/shelves?limit=0"}})
	}
}
