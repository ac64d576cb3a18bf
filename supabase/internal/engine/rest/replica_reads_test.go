package rest_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/database/testdb"
	"daawo/supabase/internal/engine/rest"
)

// TestReplicaReads checks that only plain reads of the named tables use the standby. A second
// database plays the standby; its rows differ from the primary's.
func TestReplicaReads(t *testing.T) {
	const tables = `
		create schema api; grant usage on schema api to anon;
		create table api.lists (id int primary key, place text);
		create table api.items (id int primary key, list_id int references api.lists, place text);
		create function api.place() returns text stable language sql as $$ select place from api.lists $$;
		grant select, insert, update on all tables in schema api to anon;`
	fill := func(place string) *testdb.DB {
		d := testdb.New(t)
		d.Exec(tables)
		d.Exec(`insert into api.lists values (1, $1)`, place)
		d.Exec(`insert into api.items values (1, 1, $1)`, place)
		return d
	}
	db := func(d *testdb.DB) *pool.Pool {
		p, err := pool.Open(t.Context(), pool.Config{URL: d.URL("authenticator"), MaxConns: 4})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Close)
		return p
	}
	primary, standby := db(fill("primary")), db(fill("standby"))
	replica := pool.NewReplica(primary, standby, time.Hour, slog.New(slog.DiscardHandler))
	ctx, stop := context.WithCancel(t.Context())
	watched := make(chan struct{})
	go func() { defer close(watched); replica.Watch(ctx) }()
	t.Cleanup(func() { stop(); <-watched })

	c := rest.Default()
	c.Schemas, c.AnonRole = []string{"api"}, "anon"
	engine, err := rest.New(rest.Options{Pool: primary, Config: c, Log: slog.New(slog.DiscardHandler),
		Replica: replica, ReplicaTables: []string{"api.lists"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := engine.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = engine.Close(context.WithoutCancel(t.Context())) })
	ask := func(method, target, body string, headers ...string) string {
		r := httptest.NewRequest(method, target, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		w := httptest.NewRecorder()
		engine.ServeHTTP(w, r)
		return w.Body.String()
	}
	for end := time.Now().Add(time.Minute); !strings.Contains(ask("GET", "/lists", ""), "standby") &&
		time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	for _, c := range []struct{ method, target, body, from string }{
		{http.MethodGet, "/lists?select=place", "", "standby"},
		{http.MethodGet, "/lists?id=eq.1&order=id", "", "standby"},
		{http.MethodGet, "/items", "", "primary"},                           // not in ReplicaTables
		{http.MethodGet, "/lists?select=place,items(place)", "", "primary"}, // embeds another table
		{http.MethodGet, "/rpc/place", "", "primary"},                       // a function may read any table
		{http.MethodPatch, "/lists?id=eq.1&select=place", `{"id":1}`, "primary"},
	} {
		if got := ask(c.method, c.target, c.body, "Prefer", "return=representation"); !strings.Contains(got, c.from) {
			t.Errorf("%s %s: %s, want a row of the %s", c.method, c.target, got, c.from)
		}
	}
	standby.Close()
	if got := ask("GET", "/lists", ""); !strings.Contains(got, "primary") {
		t.Errorf("without a standby: %s", got)
	}
}
