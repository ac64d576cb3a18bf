package meta_test

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/database/testdb"
	"daawo/supabase/internal/engine/meta"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// server is an engine over a database of its own.
type server struct {
	*testing.T
	db     *testdb.DB
	engine *meta.Engine
}

// start returns an engine over a new database.
func start(t *testing.T, change ...func(*meta.Options)) *server {
	t.Helper()
	db := testdb.New(t)
	open := func(console bool) *pool.Pool {
		p, err := pool.Open(t.Context(), pool.Config{URL: db.URL("postgres"), MaxConns: 3, Console: console})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Close)
		return p
	}
	o := meta.Options{Catalog: open(false), Console: open(true), Log: slog.New(slog.DiscardHandler)}
	for _, c := range change {
		c(&o)
	}
	return &server{t, db, meta.New(o)}
}

// send sends a request and returns the status and the body.
func (s *server) send(method, path, body string, headers ...string) (int, string) {
	s.Helper()
	r := httptest.NewRequestWithContext(s.Context(), method, path, strings.NewReader(body))
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.engine.ServeHTTP(w, r)
	text, err := io.ReadAll(w.Body)
	if err != nil {
		s.Fatal(err)
	}
	return w.Code, string(text)
}

// must sends a request that succeeds and returns its JSON.
func (s *server) must(method, path, body string, headers ...string) any {
	s.Helper()
	status, text := s.send(method, path, body, headers...)
	if status != http.StatusOK {
		s.Fatalf("%s %s: %d %s", method, path, status, text)
	}
	return parse(s, text)
}

func parse(s *server, text string) (value any) {
	s.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&value); err != nil {
		s.Fatalf("%v: %s", err, text)
	}
	return value
}

// query runs statements that succeed.
func (s *server) query(sql string, parameters ...any) any {
	s.Helper()
	body, err := json.Marshal(map[string]any{"query": sql, "parameters": parameters})
	if err != nil {
		s.Fatal(err)
	}
	return s.must("POST", "/query", string(body))
}

// TestValues checks the JSON of each type that has a form of its own.
func TestValues(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.query("create type mood as enum ('sad', 'ok'); create type pair as (a int, b text)")
	for sql, want := range map[string]string{
		`1::int2, 2::int4, 3::oid`: `{"int2":1,"int4":2,"oid":3}`,
		`9007199254740991::int8 as a, -9007199254740991::int8 as b`: `{"a":9007199254740991,
			"b":-9007199254740991}`,
		`9007199254740992::int8 as a, '-9223372036854775808'::int8 as b`: `{"a":"9007199254740992",
			"b":"-9223372036854775808"}`,
		`1.50::numeric, 'NaN'::numeric as n`: `{"numeric":"1.50","n":"NaN"}`,
		`1.5::float4, 'NaN'::float8 as n, 'Infinity'::float8 as i, 1e300::float8`: `{"float4":1.5,"n":null,
			"i":null,"float8":1e+300}`,
		`true as t, false as f, null::bool as n`: `{"t":true,"f":false,"n":null}`,
		`'2026-01-02'::date, '2026-01-02 03:04:05.6'::timestamp`: `{"date":"2026-01-02",
			"timestamp":"2026-01-02 03:04:05.6"}`,
		`'1 day 01:45'::interval, '03:04'::time`: `{"interval":"1 day 01:45:00","time":"03:04:00"}`,
		`'{"b":[1.0,null],"a":"\u00e9"}'::json, '{"a": 1}'::jsonb`: `{"json":{"b":[1.0,null],
			"a":"é"},"jsonb":{"a":1}}`,
		`'\x00ff'::bytea`: `{"bytea":{"type":"Buffer",
			"data":[0,255]}}`,
		`'(1,2)'::point, '<(1,2.5),3>'::circle`: `{"point":"(1,2)","circle":{"x":1,
			"y":2.5,"radius":3}}`,
		`array[1,null]::int4[] as a, array[1,2]::int8[] as b`:           `{"a":[1,null],"b":["1","2"]}`,
		`array[array[1,2],array[3,4]] as a, '[0:1]={5,6}'::int4[] as b`: `{"a":[[1,2],[3,4]],"b":[5,6]}`,
		`array['a,b','"','\',null,'NULL','','{'] as a, array[]::text[] as b`: `{"a":["a,b","\"","\\",null,
			"NULL","","{"],"b":[]}`,
		`array[1.50,2]::numeric[] as a, array[true,false] as b`: `{"a":[1.50,2],"b":[true,false]}`,
		`array['{"a":1}','[2]']::jsonb[] as a`:                  `{"a":[{"a":1},[2]]}`,
		`array['1 year 2 mons -3 days -04:05:06.7']::interval[] as a`: `{"a":[{"years":1,"months":2,
			"days":-3,"hours":-4,"minutes":-5,"seconds":-6,"milliseconds":-700}]}`,
		`array['2026-01-02']::date[] as a, array['\xff']::bytea[] as b`: `{"a":["2026-01-02"],
			"b":[{"type":"Buffer","data":[255]}]}`,
		`'ok'::mood, array['ok']::mood[] as moods, row(1,'x')::pair as pair`: `{"mood":"ok","moods":"{ok}",
			"pair":"(1,x)"}`,
		`'[1,5)'::int4range, '{a}'::name[] as names`: `{"int4range":"[1,5)","names":"{a}"}`,
		`1 as a, 2 as b, 3 as a`:                     `{"a":3,"b":2}`,
		`E'a"\\\n\t\x01ü😀' as "k\"ey"`:               `{"k\"ey":"a\"\\\n\t\u0001ü😀"}`,
	} {
		sql = strings.ReplaceAll(sql, `"k\"ey"`, `"k""ey"`)
		if diff := cmp.Diff(parse(s, "["+want+"]"), s.query("select "+sql)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", sql, diff)
		}
	}
}
