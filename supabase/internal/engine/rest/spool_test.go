package rest_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"strings"
	"testing"
	"time"
)

// longSQL creates a relation of 40 MB as JSON, and a relation that fails in its last row.
const longSQL = `
create view api.long as select i as id, repeat('text ', 72) as note from generate_series(1, 100000) i;
create view api.breaks as select 1 / (5000 - i) as n, repeat('x', 300) as note from generate_series(1, 5000) i;
create function api.long_set(n int) returns setof int language sql stable as $$ select nullif(i, 2) from generate_series(1, n) i $$;
grant usage on schema api to service_role;
grant select on api.long, api.breaks to anon, service_role`

// getLong requests the long relation with a role without statement_timeout, because the 3 s of the
// other roles are too short on a busy machine.
func getLong(t *testing.T, server string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server+"/long", nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+sign(t, `{"role":"service_role"}`))
	return http.DefaultClient.Do(r)
}

// TestLongResults checks that a result without a limit, in memory or in a file, is the same array
// as from Postgres' json_agg and has all headers. An error in the last row must be an error reply.
func TestLongResults(t *testing.T) {
	b := open(t, nil)
	b.db.Exec(longSQL)
	b = openOn(t, b.db, nil)
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)

	want := sha256.New()
	fmt.Fprint(want, "[")
	for i := 1; i <= 100000; i++ {
		if i > 1 {
			fmt.Fprint(want, ", \n ")
		}
		fmt.Fprintf(want, `{"id":%d,"note":"%s"}`, i, strings.Repeat("text ", 72))
	}
	fmt.Fprint(want, "]")
	server := httptest.NewServer(b.engine)
	defer server.Close()
	res, err := getLong(t, server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	got := sha256.New()
	n, err := io.Copy(got, res.Body)
	if err != nil || n < 30<<20 || res.ContentLength != n || res.Header.Get("Content-Range") != "0-99999/*" {
		t.Errorf("%d bytes, %v, %v", n, err, res.Header)
	}
	if g, w := hex.EncodeToString(got.Sum(nil)), hex.EncodeToString(want.Sum(nil)); g != w {
		t.Errorf("hash of the body: %s, want %s", g, w)
	}
	b.run(t, []scenario{
		{name: "error in the last row", url: "/breaks", status: 400,
			reply: "Content-Range:\nContent-Type: application/json; charset=utf-8", not: "xxx",
			want: `{"code":"22012","details":null,"hint":null,"message":"division by zero"}`},
		{name: "no rows", url: "/long?id=eq.0", want: "=[]", reply: "Content-Range: */*\nContent-Length: 2"},
		{name: "counted", url: "/long?select=id&offset=99999", header: "Prefer: count=exact", status: 206,
			want: "=[{\"id\":100000}]", reply: "Content-Range: 99999-99999/100000"},
		{name: "counted beyond the end", url: "/long?offset=100001", header: "Prefer: count=exact", status: 416},
		{name: "counted, all rows", url: "/long?select=id&id=lt.3", header: "Prefer: count=exact",
			want: "=[{\"id\":1}, \n {\"id\":2}]", reply: "Content-Range: 0-1/2"},
		{name: "set with a null", url: "/rpc/long_set?n=3", want: "=[1, null, 3]", reply: "Content-Range: 0-2/*"},
		{name: "set, counted", url: "/rpc/long_set?n=3", header: "Prefer: count=exact", want: "[1, null, 3]",
			reply: "Content-Range: 0-2/3"},
	})
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) > 0 {
		t.Errorf("files remain: %v", left)
	}
}

// TestLongResultMemory checks that the heap grows by less than 16 MB during a reply of 40 MB.
func TestLongResultMemory(t *testing.T) {
	b := open(t, nil)
	b.db.Exec(longSQL)
	b = openOn(t, b.db, nil)
	server := httptest.NewServer(b.engine)
	defer server.Close()
	live := func() uint64 {
		s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		metrics.Read(s)
		return s[0].Value.Uint64()
	}
	runtime.GC()
	before, most := live(), uint64(0)
	done := make(chan int64)
	go func() {
		defer close(done)
		res, err := getLong(t, server.URL)
		if err != nil {
			t.Error(err)
			return
		}
		defer res.Body.Close()
		n, err := io.Copy(io.Discard, res.Body)
		if err != nil {
			t.Error(err)
		}
		done <- n
	}()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case n := <-done:
			if most > before+16<<20 || n < 30<<20 {
				t.Errorf("reply of %d bytes: the heap grew from %d to %d", n, before, most)
			}
			return
		case <-tick.C:
			most = max(most, live())
		}
	}
}

// TestSpoolWithoutTempDir checks that a long reply is an error if the temporary file cannot be
// created.
func TestSpoolWithoutTempDir(t *testing.T) {
	b := open(t, nil)
	b.db.Exec(longSQL)
	b = openOn(t, b.db, nil)
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "missing"))
	b.run(t, []scenario{
		{name: "long", url: "/long", status: 500, not: os.TempDir()},
		{name: "short", url: "/long?id=eq.7&select=id", want: `[{"id":7}]`},
	})
}
