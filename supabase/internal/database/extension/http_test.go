package extension_test

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"daawo/supabase/internal/database/extension/pgnet"
	"daawo/supabase/internal/database/testdb"
)

// echo answers with the request.
func echo(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/slow":
		<-r.Context().Done()
	case "/moved":
		http.Redirect(w, r, "/here", http.StatusFound)
	case "/binary":
		w.Header().Set("Content-Type", "image/png")
		w.Write([]byte("a\xffb\x00c"))
	case "/large":
		w.Write(make([]byte, 5<<20))
	default:
		body, _ := io.ReadAll(r.Body)
		w.Header().Add("X-Two", "1")
		w.Header().Add("X-Two", "2")
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, "%s %s|%s|%s|%s", r.Method, r.URL.RequestURI(), r.Header.Get("Content-Type"), r.Header.Get("X-Key"), body)
	}
}

// serveHTTP answers the extension http for the server of the tests.
func serveHTTP(t *testing.T, targets pgnet.Targets) {
	t.Helper()
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	s, err := pgnet.Serve(testdb.Server(t).SocketDir(), targets, log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestHTTP(t *testing.T) {
	d := testdb.New(t)
	d.Exec(`create extension http with schema extensions`)
	web := httptest.NewServer(http.HandlerFunc(echo))
	defer web.Close()
	fails := refused(t, d.Conn("postgres"))
	get := `select extensions.http_get('` + web.URL + `/slow')`
	fails(get, "not running")
	serveHTTP(t, everything)
	for call, want := range map[string]string{
		`http_get($1 || '/a?b=c')`:                              "201|text/plain|GET /a?b=c|||",
		`http_get($1 || '/a', '{"q": "x y&é", "n": null}')`:     "201|text/plain|GET /a?n=&q=x+y%26%C3%A9|||",
		`http_post($1 || '/a', '{"n": 1}', 'application/json')`: `201|text/plain|POST /a|application/json||{"n": 1}`,
		`http_post($1 || '/a', '{"n": 1}'::jsonb)`:              "201|text/plain|POST /a|application/x-www-form-urlencoded||n=1",
		`http_put($1 || '/a', 'b', 'text/plain')`:               "201|text/plain|PUT /a|text/plain||b",
		`http_patch($1 || '/a', 'b', 'text/plain')`:             "201|text/plain|PATCH /a|text/plain||b",
		`http_delete($1 || '/a')`:                               "201|text/plain|DELETE /a|||",
		`http_delete($1 || '/a', 'b', 'text/plain')`:            "201|text/plain|DELETE /a|text/plain||b",
		`http_head($1 || '/a')`:                                 "201|text/plain|",
		`http_get($1 || '/moved')`:                              "201|text/plain|GET /here|||",
		`http_get($1 || '/binary')`:                             "200|image/png|a\uFFFDb",
		`http(('POST', $1 || '/a', array[extensions.http_header('X-Key', 'k''"')], 'text/plain', 'é\')::extensions.http_request)`: `201|text/plain|POST /a|text/plain|k'"|é\`,
	} {
		got := testdb.Value[string](d, `select concat_ws('|', r.status, r.content_type, r.content) from extensions.`+call+` r`, web.URL)
		if got != want {
			t.Errorf("%s:\n got %q\nwant %q", call, got, want)
		}
	}
	if got := testdb.Value[string](d, `select string_agg(h.value, ',' order by h.value)
		from extensions.http_get($1 || '/a') r, unnest(r.headers) h where h.field = 'X-Two'`, web.URL); got != "1,2" {
		t.Errorf("a repeated header: %q", got)
	}
	fails(`select extensions.http_get('`+web.URL+`/large')`, "larger than 4 MB")
	fails(`select extensions.http_get('ftp://x/')`, "Unsupported protocol")
	fails(`select extensions.http_get('http://127.0.0.1:1/')`, "Couldn't connect to server")
	fails(`select extensions.http_set_curlopt('CURLOPT_PROXY', 'x')`, "not supported")
	fails(`select extensions.http_connect('host=127.0.0.1', 'x')`, "permission denied")
	fails(`select extensions.http_set_curlopt('CURLOPT_TIMEOUT_MS', '200'), extensions.http_get('`+web.URL+`/slow')`,
		"timed out after 200 milliseconds")
	// A request does not outlast its statement.
	began := time.Now()
	fails(`begin; set local statement_timeout = 200; select extensions.http_reset_curlopt(); `+get, "time")
	if took := time.Since(began); took > 4*time.Second {
		t.Errorf("the request went on for %v", took)
	}
}

// On a public installation the extension http refuses private addresses, as pg_net does, also for a
// session that changes what it can.
func TestHTTPRefusesPrivateAddresses(t *testing.T) {
	d := testdb.New(t)
	d.Exec(`create extension http with schema extensions`)
	web := httptest.NewServer(http.HandlerFunc(echo))
	defer web.Close()
	serveHTTP(t, pgnet.Targets{})
	fails := refused(t, d.Conn("postgres"))
	fails(`set role anon; select extensions.http_get('`+web.URL+`')`, "private address")
	fails(`set unix_socket_directories = '/tmp'`, "cannot be changed")
}
