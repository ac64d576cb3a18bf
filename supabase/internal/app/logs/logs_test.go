package logs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// filled returns a store with requests and messages in the hour before noon.
func filled(t *testing.T) *Store {
	t.Helper()
	s := Open(filepath.Join(t.TempDir(), "logs"))
	s.now = func() time.Time { return noon }
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	add := func(minutes int, service, method, path string, status int, took time.Duration) {
		s.Add(Entry{Time: noon.Add(-time.Duration(minutes) * time.Minute), ID: fmt.Sprintf("%s-%d", service, minutes),
			Service: service, Method: method, Path: path, Status: status, Took: took})
	}
	add(50, "rest", "GET", "/rest/v1/notes", 200, 2*time.Millisecond)
	add(40, "rest", "POST", "/rest/v1/notes", 201, 3*time.Millisecond)
	add(30, "rest", "GET", "/rest/v1/notes", 500, 1500*time.Millisecond)
	add(20, "auth", "POST", "/auth/v1/token", 400, time.Millisecond)
	add(10, "functions", "POST", "/functions/v1/hello", 200, 20*time.Millisecond)
	add(5, "functions", "POST", "/functions/v1/hello", 503, 5*time.Millisecond)
	add(4, "storage", "GET", "/storage/v1/object/public", 404, time.Millisecond)
	log := slog.New(s.Postgres(slog.DiscardHandler)).With("part", "database")
	log.Log(t.Context(), slog.LevelDebug, "checkpoint complete", "from", "postgres")
	log.Warn("not of postgres")
	log.Error(`could not write: "secret text"`, "from", "postgres")
	return s
}

// rowsOf returns the result of a statement as JSON.
func rowsOf(t *testing.T, s *Store, sql string) string {
	t.Helper()
	result, err := s.Query(t.Context(), sql, noon.Add(-time.Hour), noon)
	if err != nil {
		t.Fatalf("%v in\n%s", err, sql)
	}
	text, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

const joins = ` cross join unnest(metadata) as m cross join unnest(m.request) as request
  cross join unnest(m.response) as response `

// TestStudiosQueries runs statements of the shapes that Studio's pages send.
func TestStudiosQueries(t *testing.T) {
	s := filled(t)
	for _, tt := range []struct{ page, sql, want string }{
		{"API gateway", `
-- local dev edge_logs query
select id, edge_logs.timestamp, event_message, request.method, request.path, request.search, response.status_code
from edge_logs` + joins + `where (request.path like '/rest/%' or request.path like '/graphql/%')
and (response.status_code between 500 and 599)
order by timestamp desc
limit 100;`, `[{"event_message":"GET | 500 | /rest/v1/notes","id":"rest-30","method":"GET","path":"/rest/v1/notes","search":null,"status_code":500,"timestamp":1772623800000000}]`},
		{"count", `SELECT count(*) as count FROM edge_logs` + joins, `[{"count":7}]`},
		{"count of none", `SELECT count(*) as count FROM realtime_logs `, `[{"count":0}]`},
		{"chart", `
SELECT
-- log-event-chart
  timestamp_trunc(t.timestamp, hour) as timestamp,
  count(CASE WHEN NOT (response.status_code >= 500 OR response.status_code >= 400 AND response.status_code < 500) THEN 1 END) as ok_count,
  count(CASE WHEN response.status_code >= 500 THEN 1 END) as error_count,
  count(CASE WHEN response.status_code >= 400 AND response.status_code < 500 THEN 1 END) as warning_count,
FROM
  edge_logs t` + joins + `where t.timestamp > '2026-03-04T11:15:00.000Z'
GROUP BY
timestamp
ORDER BY
  timestamp ASC`, `[{"error_count":2,"ok_count":2,"timestamp":1772622000000000,"warning_count":2}]`},
		{"auth", `select id, auth_logs.timestamp, event_message, metadata.level, metadata.status, metadata.path,
  metadata.msg as msg, metadata.error from auth_logs cross join unnest(metadata) as metadata
  where (IFNULL(metadata.level, '') = 'warning' OR IFNULL(SAFE_CAST(metadata.status AS INT64), 0) BETWEEN 400 AND 499)
  and (REGEXP_CONTAINS(metadata.path, "/token|/authorize"))
  order by timestamp desc limit 100`, `[{"error":null,"event_message":"POST | 400 | /auth/v1/token","id":"auth-20","level":"warning","msg":"POST | 400 | /auth/v1/token","path":"/auth/v1/token","status":"400","timestamp":1772624400000000}]`},
		{"functions, last hour", `
select function_id, count(distinct id) as requests_count,
  count(distinct case when response.status_code >= 500 then id end) as server_err_count
from function_edge_logs cross join unnest(metadata) as m cross join unnest(m.response) as response
where function_id is not null and function_id in ('hello', 'other')
group by function_id`, `[{"function_id":"hello","requests_count":2,"server_err_count":1}]`},
		{"invocations", `select id, function_edge_logs.timestamp, event_message
from function_edge_logs order by timestamp desc limit 1`,
			`[{"event_message":"POST | 503 | /functions/v1/hello","id":"functions-5","timestamp":1772625300000000}]`},
		{"slow requests", `select cast(timestamp as datetime) as timestamp, event_message, r.origin_time from edge_logs
  left join unnest(metadata) as m on true cross join unnest(m.response) as r where r.origin_time > 1000
order by timestamp desc limit 100`,
			`[{"event_message":"GET | 500 | /rest/v1/notes","origin_time":1500,"timestamp":"2026-03-04T11:30:00"}]`},
		{"top paths", `select r.path as path, r.search as params, count(timestamp) as c from edge_logs
  cross join unnest(metadata) as m cross join unnest(m.request) as r
group by path, params order by c desc limit 1`, `[{"c":3,"params":null,"path":"/rest/v1/notes"}]`},
		{"groups by number", `select request.method as verb, (response.status_code >= 400) as failed, count(*) as n
from edge_logs f` + joins + `where starts_with(request.path, '/rest/') group by 1, 2 order by n desc, verb`,
			`[{"failed":false,"n":1,"verb":"GET"},{"failed":true,"n":1,"verb":"GET"},{"failed":false,"n":1,"verb":"POST"}]`},
		{"report of times", `select avg(response.origin_time) as a, approx_quantiles(response.origin_time, 2)[offset(1)] as p50,
  max(response.origin_time) as m, min(t.timestamp) as first from edge_logs t` + joins + `where request.path = '/rest/v1/notes'`,
			`[{"a":501.6666666666667,"first":1772622600000000,"m":1500,"p50":3}]`},
		{"one entry", `select id, event_message from storage_logs where id = 'storage-4' limit 1`,
			`[{"event_message":"GET | 404 | /storage/v1/object/public","id":"storage-4"}]`},
		{"addresses", `select h.x_real_ip from edge_logs left join unnest(metadata) as m on true
  left join unnest(m.request) as r on true left join unnest(r.headers) as h on true where h.x_real_ip is not null`, `[]`},
	} {
		if got := rowsOf(t, s, tt.sql); got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.page, got, tt.want)
		}
	}
}

func TestPostgresMessages(t *testing.T) {
	s := filled(t)
	result, err := s.Query(t.Context(), `
select postgres_logs.timestamp, id, event_message, parsed.error_severity, parsed.detail
from postgres_logs cross join unnest(metadata) as m cross join unnest(m.parsed) as parsed
where ( parsed.application_name = 'pg_cron' or event_message::text LIKE '%write%' or parsed.error_severity = 'LOG')
order by id`, time.Time{}, time.Now().Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range result {
		got = append(got, fmt.Sprint(r["error_severity"], " ", r["event_message"]))
	}
	if want := []string{"LOG checkpoint complete", "ERROR could not write: …"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestWrongStatements(t *testing.T) {
	s := filled(t)
	for sql, want := range map[string]string{
		"select 1":                                                            "ends too early",
		"select * from users":                                                 `no table "users"`,
		"select nothing from edge_logs":                                       `no column "nothing"`,
		"select sha256(id) from edge_logs":                                    "function sha256 is not supported",
		"with a as (select 1) select * from a":                                `"with" at character 1`,
		"select id from edge_logs where id = 'x":                              "has no end",
		"select id from edge_logs; drop table x":                              `"drop" at character 27`,
		"select id from edge_logs where count(*) > 1":                         "not allowed here",
		"select id from edge_logs where regexp_contains(id, '(')":             "regexp_contains",
		"select id from edge_logs group by 7":                                 "no column 7",
		"select timestamp_trunc(id, hour) from edge_logs":                     "is no time",
		"select id from edge_logs join other on true":                         `"join"`,
		"select é from edge_logs":                                             "unexpected",
		"select id from edge_logs where " + strings.Repeat("(", 1000):         "too many parentheses",
		"select id from edge_logs where id = '" + strings.Repeat("x", 70_000): "more than 65536 bytes",
	} {
		_, err := s.Query(t.Context(), sql, noon.Add(-time.Hour), noon)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", sql, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("select id, count(*) from edge_logs t cross join unnest(metadata) as m where a = 'b' group by 1 limit 3;")
	f.Add("select case when a then b else c end::text, x[offset(1)] from auth_logs where not a in (1) and b is null")
	f.Fuzz(func(t *testing.T, sql string) {
		if st, err := parse(sql); err == nil && (st == nil || tables[st.table] == nil) {
			t.Errorf("%q: %+v", sql, st)
		}
	})
}

// TestEndpoint asks as Studio's server does.
func TestEndpoint(t *testing.T) {
	s := filled(t)
	server := httptest.NewServer(s.Handler(func() string { return "key" }))
	defer server.Close()
	ask := func(key, path string, parameters url.Values) (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+path+"?"+parameters.Encode(), nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Api-Key", key)
		res, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		var out bytes.Buffer
		if _, err := out.ReadFrom(res.Body); err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, strings.TrimSpace(out.String())
	}
	const all = "/api/endpoints/query/logs.all"
	count := url.Values{"project": {"default"}, "sql": {"select count(*) as count from edge_logs"},
		"iso_timestamp_start": {"2026-03-04T11:35:00.000Z"}, "iso_timestamp_end": {"2026-03-04T11:55:30.000Z"}}
	for _, tt := range []struct {
		what, key, path string
		parameters      url.Values
		status          int
		body            string
	}{
		{"a window", "key", all, count, 200, `{"error":null,"result":[{"count":3}]}`},
		{"the day", "key", all, url.Values{"sql": count["sql"]}, 200, `{"error":null,"result":[{"count":7}]}`},
		{"no key", "", all, count, 401, "Unauthorized"},
		{"a wrong statement", "key", all, url.Values{"sql": {"select 1"}}, 400,
			`{"error":{"message":"the statement ends too early"}}`},
		{"a wrong time", "key", all, url.Values{"iso_timestamp_start": {"noon"}}, 400,
			`{"error":{"message":"iso_timestamp_start: \"noon\" is no time"}}`},
		{"another report", "key", "/api/endpoints/query/other", nil, 400,
			`{"error":{"message":"this server's logs have no such report"}}`},
		{"requests by service", "key", "/api/endpoints/query/usage.api-counts", url.Values{"interval": {"1day"}}, 200,
			`{"error":null,"result":[{"timestamp":1772622000000000,"total_auth_requests":1,"total_realtime_requests":0,"total_rest_requests":3,"total_storage_requests":1}]}`},
	} {
		if status, body := ask(tt.key, tt.path, tt.parameters); status != tt.status || body != tt.body {
			t.Errorf("%s: %d %s\nwant %d %s", tt.what, status, body, tt.status, tt.body)
		}
	}
}

// TestStoreKeepsLimits checks that no entry older than a day is read, and that the folder stays
// below its limit.
func TestStoreKeepsLimits(t *testing.T) {
	s := Open(filepath.Join(t.TempDir(), "logs"))
	now := noon
	s.now = func() time.Time { now = now.Add(time.Millisecond); return now }
	s.Add(Entry{Time: noon.Add(-25 * time.Hour), ID: "old", Service: "rest"})
	s.Add(Entry{Time: noon, ID: "new", Service: "rest"})
	var found []string
	read := func(e Entry) error { found = append(found, e.ID); return nil }
	if err := s.Between(time.Time{}, now.Add(time.Hour), read); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(found, []string{"new"}) {
		t.Errorf("found %q", found)
	}
	long := strings.Repeat("x", 100_000)
	for range 700 { // 70 MB
		s.Add(Entry{Time: now, ID: "long", Service: "rest", Path: long})
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	total := int64(0)
	err := filepath.WalkDir(s.dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		total += info.Size()
		return errors.Join(err, modeOf(info))
	})
	if err != nil || total > keepBytes || total < keepBytes*3/4 {
		t.Errorf("%d bytes, %v", total, err)
	}
	again := Open(s.dir)
	again.now = s.now
	count := 0
	read = func(Entry) error { count++; return nil }
	if err := again.Between(noon, now.Add(time.Hour), read); err != nil || count < 350 {
		t.Errorf("%d entries after a restart, %v", count, err)
	}
}

func modeOf(info fs.FileInfo) error {
	if info.Mode().Perm() != 0o600 {
		return fmt.Errorf("mode %v", info.Mode())
	}
	return nil
}

// TestRunWritesEntries checks that another process can read an entry soon.
func TestRunWritesEntries(t *testing.T) {
	s := Open(filepath.Join(t.TempDir(), "logs"))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { s.Run(ctx); close(done) }()
	s.Add(Entry{Time: time.Now(), ID: "x", Service: "rest"})
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		segments, err := s.segments()
		if err != nil {
			t.Fatal(err)
		}
		if len(segments) == 1 {
			if text, err := os.ReadFile(segments[0]); err == nil && bytes.Contains(text, []byte(`"i":"x"`)) {
				break
			}
		}
		if time.Now().After(end) {
			t.Fatal("the entry is not on the disk")
		}
	}
	cancel()
	<-done
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// brokenDisk is a file on a full disk.
type brokenDisk struct{}

func (brokenDisk) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// TestStoreOnFullDisk checks that entries are stored again after the disk was full, and that many
// failures take no memory.
func TestStoreOnFullDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "logs")
	if err := os.WriteFile(dir, nil, 0o600); err != nil { // no folder can be made
		t.Fatal(err)
	}
	s := Open(dir)
	for range 100 {
		s.Add(Entry{Time: time.Now(), ID: "lost"})
	}
	if text := fmt.Sprint(s.failed); s.failed == nil || strings.Contains(text, "\n") {
		t.Errorf("failures: %v", s.failed)
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	s.Add(Entry{Time: time.Now(), ID: "first"})
	s.out.Reset(brokenDisk{})
	s.Add(Entry{Time: time.Now(), ID: strings.Repeat("x", 20<<10)})
	s.Add(Entry{Time: time.Now(), ID: "last"})
	var last string
	if err := s.Between(time.Time{}, time.Now().Add(time.Minute), func(e Entry) error {
		last = e.ID
		return nil
	}); err != nil {
		t.Error(err)
	}
	if last != "last" {
		t.Errorf("the newest entry is %q", last)
	}
	if err := s.Close(); err == nil {
		t.Error("Close returns no failure")
	}
}
