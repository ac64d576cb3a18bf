package rest_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"daawo/supabase/internal/database/testdb"
	"daawo/supabase/internal/engine/rest"
)

// TestNumbersBeyondBigint checks that limits and offsets that Postgres cannot hold are its error,
// not ignored.
func TestNumbersBeyondBigint(t *testing.T) {
	b := open(t, nil)
	most := openOn(t, b.db, func(c *rest.Config) { c.MaxRows = new(int64(2)) })
	huge := "99999999999999999999"
	refused := func(number string) string {
		return `{"code":"22003","message":"value \"` + number +
			`\" is out of range for type bigint","details":null,"hint":null}`
	}
	b.run(t, []scenario{
		{name: "limit", url: "/shelves?limit=" + huge, status: 400, want: refused(huge)},
		{name: "offset", url: "/shelves?offset=" + huge, status: 400, want: refused(huge)},
		{name: "negative offset", url: "/shelves?offset=-" + huge, status: 400, want: refused("-" + huge)},
		{name: "negative limit", url: "/shelves?limit=-" + huge, status: 416},
		{name: "embedded limit", url: "/authors?select=id,books!books_author_fkey(id)&books.limit=" + huge, status: 400,
			want: refused(huge)},
		{name: "Range", url: "/shelves", header: "Range: 0-" + huge, status: 400,
			want: refused("100000000000000000000")},
		{name: "limit within the Range", url: "/shelves?limit=1", header: "Range: 0-" + huge, status: 200},
		{name: "unknown table first", url: "/none?limit=" + huge, status: 404},
	})
	most.run(t, []scenario{{name: "limit above db-max-rows", url: "/shelves?select=id&limit=" + huge}})
}

// TestNesting checks the bounds of nesting and that their errors name them.
func TestNesting(t *testing.T) {
	b := open(t, nil)
	nested := func(n int) string {
		return "/authors?select=" + strings.Repeat("id,books!books_author_fkey(id,authors!books_author_fkey(", n/2) +
			"id" + strings.Repeat("))", n/2)
	}
	logic := func(n int) string {
		return "/authors?select=id&" + "and=" + strings.Repeat("(and", n) + "(id.eq.1)" + strings.Repeat(")", n)
	}
	b.run(t, []scenario{
		{name: "select", url: nested(20)},
		{name: "select too deep", url: nested(102), status: 400, has: "nesting of more than 100 levels"},
		{name: "logic", url: logic(90)},
		{name: "logic too deep", url: logic(101), status: 400, has: "nesting of more than 100 levels"},
		{name: "body too deep", method: "POST", url: "/shelves", body: strings.Repeat("[", 20000), status: 400},
	})
}

// TestUnfilteredWrites checks that an update or a delete of all rows is refused where the
// configuration says so.
func TestUnfilteredWrites(t *testing.T) {
	b := open(t, nil)
	safe := openOn(t, b.db, func(c *rest.Config) { c.RequireFilter = true })
	b.run(t, []scenario{
		{name: "allowed", method: "PATCH", url: "/shelves", as: `{"role":"authenticated"}`, body: `{"label":"Z"}`,
			status: 204},
	})
	safe.run(t, []scenario{
		{name: "update", method: "PATCH", url: "/shelves", as: `{"role":"authenticated"}`, body: `{"label":"Z"}`,
			status: 400,
			want:   `{"code":"21000","message":"UPDATE requires a WHERE clause","details":null,"hint":null}`},
		{name: "delete", method: "DELETE", url: "/shelves?select=id", as: `{"role":"authenticated"}`, status: 400,
			want: `{"code":"21000","message":"DELETE requires a WHERE clause","details":null,"hint":null}`},
		{name: "update of nothing", method: "PATCH", url: "/shelves", as: `{"role":"authenticated"}`, body: `{}`,
			status: 204},
		{name: "filter", method: "PATCH", url: "/shelves?id=eq.1", as: `{"role":"authenticated"}`,
			body: `{"label":"Z"}`, status: 204},
		{name: "logic", method: "PATCH", url: "/shelves?or=(id.eq.1,id.eq.2)", as: `{"role":"authenticated"}`,
			body: `{"label":"Z"}`, status: 204},
	})
}

// TestClientThatLeaves checks that a statement runs to its end although its client disconnects,
// except a read with CancelReads.
func TestClientThatLeaves(t *testing.T) {
	b := open(t, nil)
	b.db.Exec(`create table public.done (how text); grant insert on public.done to anon;
		create function api.slow_write() returns void language plpgsql as $$ begin perform pg_sleep(0.6); insert into done values ('write'); end $$;
		create function api.slow_read() returns text language sql stable as $$ select pg_sleep(3)::text $$`)
	b = openOn(t, b.db, nil)
	leave := func(b *harness, path, method string) {
		t.Helper()
		s := httptest.NewServer(b.engine)
		t.Cleanup(s.Close) // it waits for statements
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		r, err := http.NewRequestWithContext(ctx, method, s.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Prefer", "tx=commit")
		if res, err := http.DefaultClient.Do(r); err == nil {
			res.Body.Close()
			t.Fatal("the reply came before the client left")
		}
	}
	sleeping := func() int {
		return testdb.Value[int](b.db,
			`select count(*) from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`)
	}
	cancels := openOn(t, b.db, func(c *rest.Config) { c.CancelReads = true })
	for i, o := range []*harness{b, cancels} {
		leave(o, "/rpc/slow_write", "POST")
		for deadline := time.Now().Add(time.Minute); testdb.Value[int](b.db,
			"select count(*) from done") != i+1; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("the write of a client that left was not finished")
			}
		}
	}
	leave(cancels, "/rpc/slow_read", "GET")
	time.Sleep(500 * time.Millisecond)
	if sleeping() != 0 {
		t.Error("a read with CancelReads still runs")
	}
	leave(b, "/rpc/slow_read", "GET")
	time.Sleep(500 * time.Millisecond)
	if sleeping() != 1 {
		t.Error("a read without CancelReads was cancelled")
	}
}

// TestStalledBody checks the reply to a client that stops in the middle of its body.
func TestStalledBody(t *testing.T) {
	b := open(t, nil)
	engine, err := rest.New(rest.Options{Pool: b.pool, Config: b.engine.Config(), BodyTimeout: 200 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if err := engine.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = engine.Close(context.WithoutCancel(t.Context())) }()
	s := httptest.NewServer(engine)
	defer s.Close()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "POST /shelves HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{\"id\":")
	_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if text, _ := io.ReadAll(res.Body); res.StatusCode != http.StatusRequestTimeout ||
		!strings.Contains(string(text), "stopped sending") {
		t.Errorf("%d %s", res.StatusCode, text)
	}
}
