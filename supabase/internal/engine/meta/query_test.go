package meta_test

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/md5"
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"daawo/supabase/internal/engine/meta"
)

// want compares a reply with JSON.
func (s *server) want(name string, got any, want string) {
	s.Helper()
	if diff := cmp.Diff(parse(s, want), got); diff != "" {
		s.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// TestStatements checks which rows several statements reply with, and that they are one
// transaction.
func TestStatements(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.want("none", s.query("create table t (id int)"), `[]`)
	s.want("the last with rows", s.query("select 1 as a; insert into t values (1) returning id; update t set id = 2"),
		`[{"id":1}]`)
	s.want("nothing but a comment", s.query("-- nothing"), `[]`)
	status, _ := s.send("POST", "/query", `{"query":"insert into t values (3); select 1/0"}`)
	if status != http.StatusBadRequest {
		t.Errorf("division by zero: %d", status)
	}
	s.want("after the error", s.query("select count(*) as n from t"), `[{"n":1}]`)
	s.want("an explicit transaction", s.query("begin; insert into t values (4); rollback; select count(*) as n from t"),
		`[{"n":1}]`)
}

// TestParameters checks how values of JSON become parameters.
func TestParameters(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.want("each type", s.query("select $1::int as i, $2::text as t, $3::bool as b, $4::jsonb as j, $5::text[] as a, "+
		"$6::int[] as n, $7::float8 as f, $8::text as none", 42, "it's; drop", true, map[string]any{"k": []int{1}},
		[]any{"a,b", `"\`, nil}, []any{[]int{1, 2}, []int{3, 4}}, 1.5, nil),
		`[{"i":42,"t":"it's; drop","b":true,"j":{"k":[1]},"a":["a,b","\"\\",null],"n":[[1,2],[3,4]],"f":1.5,
			"none":null}]`)
	status, body := s.send("POST", "/query", `{"query":"select $1, $2","parameters":[1]}`)
	if status != http.StatusBadRequest || !strings.Contains(body, `"code":"08P01"`) {
		t.Errorf("too few: %d %s", status, body)
	}
	s.want("an integer beyond JavaScript's", s.must("POST", "/query",
		`{"query":"select $1::numeric as n","parameters":[9007199254740993]}`), `[{"n":"9007199254740993"}]`)
}

// TestErrors checks the fields of an error.
func TestErrors(t *testing.T) {
	t.Parallel()
	s := start(t)
	for sql, want := range map[string]string{
		"select\n  missing from pg_class": `ERROR:  42703: column "missing" does not exist` +
			"\nLINE 2:   missing from pg_class\n          ^\n",
		"do $$ begin raise 'stop' using errcode = 'P0099', detail = 'more', hint = 'less'; end $$": "ERROR:  P0099: stop\n" +
			"DETAIL:  more\nHINT:  less\nCONTEXT:  PL/pgSQL function inline_code_block line 1 at RAISE\n",
	} {
		status, text := s.send("POST", "/query", `{"query":`+quoted(sql)+`}`)
		body, _ := parse(s, text).(map[string]any)
		if status != http.StatusBadRequest || body["formattedError"] != want || body["error"] != want ||
			body["name"] != "error" || body["severity"] != "ERROR" {
			t.Errorf("%s: %d %s", sql, status, text)
		}
	}
	_, text := s.send("POST", "/query", `{"query":"select missing from pg_class"}`)
	body, _ := parse(s, text).(map[string]any)
	if body["position"] != "8" || body["code"] != "42703" || body["message"] != `column "missing" does not exist` {
		t.Errorf("%v", body)
	}
	for _, bad := range []string{"", "{}", "[]", `{"query":1}`} {
		if status, text := s.send("POST", "/query", bad); status != http.StatusBadRequest {
			t.Errorf("%q: %d %s", bad, status, text)
		}
	}
}

func quoted(s string) string {
	return `"` + strings.NewReplacer("\n", `\n`, `"`, `\"`).Replace(s) + `"`
}

// TestSessions checks that a statement's session is like new: roles, settings and temporary tables
// of one caller do not reach the next one.
func TestSessions(t *testing.T) {
	t.Parallel()
	s := start(t)
	const see = `select current_user::text as role, current_setting('search_path') as path,
		to_regclass('pg_temp.rest') as t,
		current_setting('application_name') as app`
	before := s.query(see)
	for range 6 { // more than there are connections
		s.must("POST", "/query", `{"query":"create temporary table rest (id int); set role anon; set search_path = auth; `+
			`select pg_advisory_lock(1); prepare p as select 1"}`, "X-Pg-Application-Name", "caller")
		if diff := cmp.Diff(before, s.query(see)); diff != "" {
			t.Fatal(diff)
		}
	}
	status, text := s.send("POST", "/query", `{"query":"begin; set role anon"}`)
	if status != http.StatusOK {
		t.Fatal(text)
	}
	if diff := cmp.Diff(before, s.query(see)); diff != "" {
		t.Error(diff)
	}
	s.want("the name of the caller", s.must("POST", "/query", `{"query":"show application_name"}`,
		"X-Pg-Application-Name", "caller"), `[{"application_name":"caller"}]`)
	s.want("no superuser",
		s.query("select rolsuper from pg_roles where rolname = current_user"), `[{"rolsuper":false}]`)
}

// TestLimits checks the limits of time and size, and that a statement that ran into one has ended.
func TestLimits(t *testing.T) {
	t.Parallel()
	s := start(t, func(o *meta.Options) { o.QueryTimeout, o.MaxResult = 300*time.Millisecond, 10_000 })
	const sleeping = `select count(*) as n from pg_stat_activity
		where query = 'select pg_sleep(60)' and state = 'active' and pid <> pg_backend_pid()`
	status, text := s.send("POST", "/query", `{"query":"select pg_sleep(60)"}`)
	if status != http.StatusRequestTimeout || !strings.Contains(text, `"error":"Query read timeout"`) {
		t.Errorf("%d %s", status, text)
	}
	s.want("statements that run on", s.query(sleeping), `[{"n":0}]`)
	status, text = s.send("POST", "/query?queryTimeoutSecs=0&statementTimeoutSecs=0.05",
		`{"query":"select pg_sleep(60)"}`)
	if status != http.StatusBadRequest || !strings.Contains(text, "canceling statement due to statement timeout") {
		t.Errorf("%d %s", status, text)
	}
	status, text = s.send("POST", "/query", `{"query":"select repeat('x', 1000) from generate_series(1, 100000)"}`)
	if status != http.StatusBadRequest || !strings.Contains(text, `"code":"RESULT_SIZE_EXCEEDED"`) ||
		!strings.Contains(text, `"maxResultSize":10000`) {
		t.Errorf("%d %s", status, text)
	}
	long := strings.Repeat("n", 60) // the name is in each row of the JSON, but not in the values
	status, text = s.send("POST", "/query", `{"query":"select null as `+long+` from generate_series(1, 1000)"}`)
	if status != http.StatusBadRequest || !strings.Contains(text, `"code":"RESULT_SIZE_EXCEEDED"`) {
		t.Errorf("%d %.200s", status, text)
	}
	s.want("the next statement", s.query("select 1 as a"), `[{"a":1}]`)
}

// TestDisconnect checks that the statement of a client that disconnects ends.
func TestDisconnect(t *testing.T) {
	t.Parallel()
	s := start(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r, err := http.NewRequestWithContext(ctx, "POST", "/query", strings.NewReader(`{"query":"select pg_sleep(60)"}`))
		if err != nil {
			t.Error(err)
			return
		}
		s.engine.ServeHTTP(discard{}, r)
	}()
	const sleeping = `select count(*) as n from pg_stat_activity
		where query = 'select pg_sleep(60)' and state = 'active'`
	for cmp.Equal(s.query(sleeping), parse(s, `[{"n":0}]`)) {
		time.Sleep(5 * time.Millisecond)
	}
	// another caller is served in the meantime
	s.want("another caller", s.query("select 1 as a"), `[{"a":1}]`)
	cancel()
	<-ended
	// the server ends it soon after the request to cancel it
	for !cmp.Equal(s.query(sleeping), parse(s, `[{"n":0}]`)) {
		time.Sleep(5 * time.Millisecond)
	}
}

type discard struct{}

func (discard) Header() http.Header         { return http.Header{} }
func (discard) Write(b []byte) (int, error) { return len(b), nil }
func (discard) WriteHeader(int)             {}

// encrypt encrypts as CryptoJS.AES.encrypt(text, passphrase).toString() does.
func encrypt(t *testing.T, text, passphrase string) string {
	t.Helper()
	salt := []byte("saltsalt")
	var derived, sum []byte
	for len(derived) < 48 {
		h := md5.Sum(bytes.Join([][]byte{sum, []byte(passphrase), salt}, nil))
		sum = h[:]
		derived = append(derived, sum...)
	}
	block, err := aes.NewCipher(derived[:32])
	if err != nil {
		t.Fatal(err)
	}
	pad := aes.BlockSize - len(text)%aes.BlockSize
	data := append([]byte(text), bytes.Repeat([]byte{byte(pad)}, pad)...)
	cipher.NewCBCEncrypter(block, derived[32:48]).CryptBlocks(data, data)
	return base64.StdEncoding.EncodeToString(append(append([]byte("Salted__"), salt...), data...))
}

// TestOtherDatabase checks the header that names another database.
func TestOtherDatabase(t *testing.T) {
	t.Parallel()
	s := start(t, func(o *meta.Options) { o.CryptoKey = "key" })
	elsewhere := start(t)
	elsewhere.query("create table elsewhere (id int)")
	const sql = `{"query":"select to_regclass('elsewhere') is not null as there, current_user::text as role"}`
	address := elsewhere.db.TCPURL("postgres")
	header := func(text, key string) []string { return []string{"X-Connection-Encrypted", encrypt(t, text, key)} }
	s.want("statement", s.must("POST", "/query", sql, header(address, "key")...), `[{"there":true,
			"role":"postgres"}]`)
	if list, _ := s.must("GET", "/tables?included_schemas=public", "", header(address, "key")...).([]any); len(list) != 1 {
		t.Errorf("tables: %v", list)
	}
	s.must("POST", "/schemas", `{"name":"made"}`, header(address, "key")...)
	s.want("without the header", s.must("POST", "/query", sql), `[{"there":false,"role":"postgres"}]`)
	for name, headers := range map[string][]string{
		"another key": header(address, "other"), "no URL": header("x", "key"), "blank": header(" ", "key"),
		"no host":       header("postgres://name:password@:5432/postgres", "key"),
		"not encrypted": {"X-Connection-Encrypted", address},
		"a file":        header("mysql://x/y", "key"),
	} {
		if status, text := s.send("POST", "/query", sql, headers...); status != http.StatusInternalServerError ||
			!strings.Contains(text, "upstream connection details") {
			t.Errorf("%s: %d %s", name, status, text)
		}
	}
	keyless := start(t)
	if status, text := keyless.send("POST", "/query", sql, header(address, "")...); status != http.StatusInternalServerError {
		t.Errorf("without a key: %d %s", status, text)
	}
	if status, text := s.send("POST", "/query", sql, header("postgresql://127.0.0.1:1/x", "key")...); status == http.StatusOK ||
		!strings.Contains(text, "ECONNREFUSED") {
		t.Errorf("nothing listens: %d %s", status, text)
	}
}
