package rest_test

import (
	"encoding/json"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"daawo/supabase/internal/rest"
	"daawo/supabase/internal/rest/schema"
	"daawo/supabase/internal/rest/token"
)

func TestContext(t *testing.T) {
	b := open(t, func(c *rest.Config) {
		c.AppSettings = [][2]string{{"app.settings.name", "library"}}
		c.PreRequest = &schema.Name{Schema: "api", Name: "check_caller"}
	})
	b.run(t, []scenario{
		{name: "everything a function sees", url: "/rpc/whoami", as: `{"role":"authenticated","sub":"amina"}`,
			header: "X-Test: yes\nCookie: c=crumb\nPrefer: timezone=Africa/Mogadishu",
			want: `{"role":"authenticated","claims":{"role":"authenticated","sub":"amina"},"method":"GET","path":"/rpc/whoami","header":"yes","cookie":"crumb",
				"app":"library","zone":"Africa/Mogadishu","search_path":"\"api\", \"public\""}`,
			reply: "Preference-Applied: timezone=Africa/Mogadishu"},
		{name: "anonymous", method: "POST", url: "/rpc/whoami", want: `{"role":"anon","claims":{"role":"anon"},"method":"POST","path":"/rpc/whoami","header":null,"cookie":null,
				"app":"library","zone":"UTC","search_path":"\"api\", \"public\""}`},
		{name: "unknown time zone", url: "/rpc/whoami", header: "Prefer: timezone=Nowhere/Land", status: 400},
		{name: "pre-request refuses", url: "/authors", header: "X-Blocked: yes", status: 402, want: `{"code":"PT402","message":"Payment Required","details":null,"hint":"pay"}`},
		{name: "status and headers", url: "/rpc/teapot", status: 418, want: `"short and stout"`, reply: "X-Tea: mint\nSet-Cookie: a=1\nSet-Cookie: b=2"},
		{name: "headers that are none", url: "/rpc/bad_headers", status: 500,
			want: `{"code":"PGRST111","message":"response.headers guc must be a JSON array composed of objects with a single key and a string value","details":null,"hint":null}`},
		{name: "status that is none", url: "/rpc/bad_status", status: 500, want: `{"code":"PGRST112","message":"response.status guc must be a valid status code","details":null,"hint":null}`},
		{name: "strict and unknown preference", url: "/authors", header: "Prefer: handling=strict, be=nice", status: 400,
			want: `{"code":"PGRST122","message":"Invalid preferences given with handling=strict","details":"Invalid preferences: be=nice","hint":null}`},
		{name: "lenient", url: "/shelves?limit=0", header: "Prefer: handling=lenient, be=nice", reply: "Preference-Applied: handling=lenient"},
	})
}

// TestManySettings: more settings than a function of Postgres takes arguments are set all the same.
func TestManySettings(t *testing.T) {
	b := open(t, func(c *rest.Config) {
		for i := range 150 {
			c.AppSettings = append(c.AppSettings, [2]string{"app.settings.n" + strconv.Itoa(i), "x"})
		}
		c.AppSettings = append(c.AppSettings, [2]string{"app.settings.name", "the last"})
	})
	b.run(t, []scenario{{name: "the last is set", url: "/rpc/whoami", as: `{"role":"anon"}`, header: "X-Test: yes\nCookie: c=crumb", want: `{"role":"anon",
		"claims":{"role":"anon"},"method":"GET","path":"/rpc/whoami","header":"yes","cookie":"crumb","app":"the last","zone":"UTC","search_path":"\"api\", \"public\""}`}})
}

func TestTokens(t *testing.T) {
	b := open(t, nil)
	past := `{"role":"authenticated","exp":1}`
	closed := openOn(t, b.db, func(c *rest.Config) { c.AnonRole = "" })
	keyless := openOn(t, b.db, func(c *rest.Config) { c.Keys = nil })
	audience := openOn(t, b.db, func(c *rest.Config) { c.Audience = func(a string) bool { return a == "library" } })
	path, err := token.ParsePath(`$.app.roles[?(@ == "anon")]`)
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := openOn(t, b.db, func(c *rest.Config) { c.RoleClaim = path })
	b.run(t, []scenario{
		{name: "expired", url: "/shelves", as: past, status: 401, want: `{"code":"PGRST303","message":"JWT expired","details":null,"hint":null}`,
			reply: `WWW-Authenticate: Bearer error="invalid_token", error_description="JWT expired"`},
		{name: "empty", url: "/shelves", header: "Authorization: Bearer ", status: 401, want: `{"code":"PGRST301","message":"Empty JWT is sent in Authorization header","details":null,"hint":null}`},
		{name: "two parts", url: "/shelves", header: "Authorization: Bearer a.b", status: 401, want: `{"code":"PGRST301","message":"Expected 3 parts in JWT; got 2","details":null,"hint":null}`},
		{name: "another key", url: "/shelves", header: "Authorization: Bearer eyJhbGciOiJIUzI1NiJ9.e30.AAAA", status: 401,
			want: `{"code":"PGRST301","message":"No suitable key or wrong key type","details":"None of the keys was able to decode the JWT","hint":null}`},
		{name: "no algorithm", url: "/shelves", header: "Authorization: Bearer eyJhbGciOiJub25lIn0.e30.", status: 401,
			want: `{"code":"PGRST301","message":"Wrong or unsupported encoding algorithm","details":"JWT is unsecured but expected 'alg' was not 'none'","hint":null}`},
		{name: "another scheme is anonymous", url: "/shelves?limit=0", header: "Authorization: Basic eDp5"},
		{name: "role that does not exist", url: "/shelves", as: `{"role":"nobody"}`, status: 401, want: `{"code":"22023","message":"role \"nobody\" does not exist","details":null,"hint":null}`},
		{name: "role that may not be taken", url: "/shelves", as: `{"role":"postgres"}`, status: 403, want: `{"code":"42501","message":"permission denied to set role \"postgres\"","details":null,"hint":null}`},
		{name: "audience that is not asked for", url: "/shelves?limit=0", as: `{"role":"anon","aud":"x"}`},
	})
	closed.run(t, []scenario{{name: "no anonymous role", url: "/shelves", status: 401, reply: "WWW-Authenticate: Bearer",
		want: `{"code":"PGRST302","message":"Anonymous access is disabled","details":null,"hint":null}`}})
	keyless.run(t, []scenario{{name: "no key", url: "/shelves", as: `{"role":"anon"}`, status: 500, want: `{"code":"PGRST300","message":"Server lacks JWT secret","details":null,"hint":null}`}})
	audience.run(t, []scenario{
		{name: "audience", url: "/shelves?limit=0", as: `{"role":"anon","aud":["x","library"]}`},
		{name: "another audience", url: "/shelves", as: `{"role":"anon","aud":"x"}`, status: 401, want: `{"code":"PGRST303","message":"JWT not in audience","details":null,"hint":null}`},
	})
	elsewhere.run(t, []scenario{{name: "role by path", url: "/rpc/whoami", as: `{"app":{"roles":["x","anon"]},"role":"authenticated"}`, not: `"role" : "authenticated"`}})
}

func TestErrors(t *testing.T) {
	b := open(t, nil)
	raise := func(name, code, message, detail string, status int, want string) scenario {
		body, _ := json.Marshal(map[string]string{"code": code, "message": message, "detail": detail})
		return scenario{name: name, method: "POST", url: "/rpc/fail", body: string(body), status: status, want: want}
	}
	b.run(t, []scenario{
		raise("raise", "P0001", "no", "because", 400, `{"code":"P0001","message":"no","details":"because","hint":null}`),
		raise("status in the code", "PT404", "gone", "", 404, ""),
		raise("triggered action", "09000", "x", "", 500, ""),
		raise("insufficient resources", "53000", "x", "", 503, ""),
		raise("invalid authorization", "28000", "x", "", 403, ""),
		raise("cardinality", "21000", "x", "", 500, ""),
		raise("internal", "XX000", "x", "", 500, ""),
		raise("limit", "53400", "x", "", 500, ""),
		raise("undefined function", "42883", "x", "", 404, ""),
		raise("undefined table", "42P01", "x", "", 404, ""),
		raise("recursion", "42P17", "x", "", 500, ""),
		raise("anything else", "22000", "x", "", 400, ""),
		raise("whole reply", "PGRST", `{"code":"MINE","message":"m","details":"d","hint":"h"}`, `{"status":333,"headers":{"X-Mine":"1"}}`, 333,
			`{"code":"MINE","message":"m","details":"d","hint":"h"}`),
		raise("broken message", "PGRST", `nonsense`, `{"status":333,"headers":{}}`, 500, `{"code":"PGRST121","message":"Could not parse JSON in the \"RAISE SQLSTATE 'PGRST'\" error",
			"details":"Invalid JSON value for MESSAGE: 'nonsense'","hint":"MESSAGE must be a JSON object with obligatory keys: 'code', 'message' and optional keys: 'details', 'hint'."}`),
		raise("missing detail", "PGRST", `{"code":"MINE","message":"m"}`, "", 500, `{"code":"PGRST121","message":"Could not parse JSON in the \"RAISE SQLSTATE 'PGRST'\" error",
			"details":"DETAIL is missing in the RAISE statement","hint":"DETAIL must be a JSON object with obligatory keys: 'status', 'headers' and optional key: 'status_text'."}`),
		{name: "method", method: "TRACE", url: "/shelves", status: 405, want: `{"code":"PGRST117","message":"Unsupported HTTP method: TRACE","details":null,"hint":null}`},
		{name: "media type", url: "/shelves", header: "Accept: image/png", status: 406, reply: "Proxy-Status: PostgREST; error=PGRST107",
			want: `{"code":"PGRST107","message":"None of these media types are available: image/png","details":null,"hint":null}`},
	})
	minimal := openOn(t, b.db, func(c *rest.Config) { c.MinimalErrors = true })
	minimal.run(t, []scenario{{name: "minimal", url: "/author", status: 404, want: `{"code":"PGRST205","message":"Could not find the table 'api.author' in the schema cache"}`}})
}

func TestFormats(t *testing.T) {
	b := open(t, func(c *rest.Config) { c.PlanEnabled = true })
	b.run(t, []scenario{
		{name: "json", url: "/shelves?id=eq.1", reply: "Content-Type: application/json; charset=utf-8"},
		{name: "object", url: "/shelves?id=eq.1", header: "Accept: application/vnd.pgrst.object+json", want: `{"id":1,"label":"A"}`, reply: "Content-Type: application/vnd.pgrst.object+json; charset=utf-8"},
		{name: "object that is not one", url: "/shelves", header: "Accept: application/vnd.pgrst.object+json", status: 406,
			want: `{"code":"PGRST116","message":"Cannot coerce the result to a single JSON object","details":"The result contains 3 rows","hint":null}`},
		{name: "nulls stripped", url: "/authors?select=id,born&id=eq.3", header: "Accept: application/vnd.pgrst.array+json;nulls=stripped", want: `[{"id":3}]`},
		{name: "object with nulls stripped", url: "/authors?select=id,born&id=eq.3", header: "Accept: application/vnd.pgrst.object+json;nulls=stripped", want: `{"id":3}`},
		{name: "csv", url: "/authors?select=id,name,tags&id=eq.1", header: "Accept: text/csv", want: "=id,name,tags\n1,\"Nuruddin Farah\",\"{novel,essay}\"", reply: "Content-Type: text/csv; charset=utf-8"},
		{name: "csv of a function", url: "/rpc/grid?limit=1", header: "Accept: text/csv", want: "=n,square\n1,1"},
		{name: "preferred by quality", url: "/shelves?id=eq.1", header: "Accept: text/csv;q=0.5, application/json", reply: "Content-Type: application/json; charset=utf-8"},
		{name: "function of a media type", url: "/rpc/page", header: "Accept: text/html", want: "=<p>hello</p>", reply: "Content-Type: text/html"},
		{name: "bytes", url: "/rpc/picture", header: "Accept: image/test", want: "=\x01\x02\xff", reply: "Content-Type: image/test\nContent-Length: 3"},
		{name: "aggregate of a media type", url: "/shelves?order=id", header: "Accept: application/vnd.lines", want: "=A|B|empty|", reply: "Content-Type: application/vnd.lines"},
		{name: "handler of another table", url: "/authors", header: "Accept: application/vnd.lines", status: 406},
		{name: "plan", url: "/shelves?id=eq.1", header: "Accept: application/vnd.pgrst.plan+json; for=\"application/json\"; options=verbose",
			reply: `Content-Type: application/vnd.pgrst.plan+json; for="application/json"; options=verbose; charset=utf-8`},
		{name: "plan as text", url: "/shelves?id=eq.1", header: "Accept: application/vnd.pgrst.plan"},
		{name: "options of a table", method: "OPTIONS", url: "/shelves", reply: "Allow: OPTIONS,GET,HEAD,POST,PUT,PATCH,DELETE"},
		{name: "options of a function", method: "OPTIONS", url: "/rpc/add", status: 404},
		{name: "options of a volatile function", method: "OPTIONS", url: "/rpc/nothing", reply: "Allow: OPTIONS,POST"},
		{name: "options of the root", method: "OPTIONS", url: "/", reply: "Allow: OPTIONS,GET,HEAD"},
		{name: "preflight", method: "OPTIONS", url: "/shelves", header: "Origin: http://a.example\nAccess-Control-Request-Method: POST\nAccess-Control-Request-Headers: X-One",
			reply: "Access-Control-Allow-Origin: *\nAccess-Control-Allow-Headers: Authorization, X-One, Accept, Accept-Language, Content-Language"},
	})
	off := openOn(t, b.db, func(c *rest.Config) {
		c.CORSOrigins = []string{"http://a.example"}
		c.ServerTiming, c.TraceHeader = true, "X-Request-Id"
	})
	off.run(t, []scenario{
		{name: "plan that is off", url: "/shelves", header: "Accept: application/vnd.pgrst.plan", status: 406},
		{name: "allowed origin", url: "/shelves?limit=0", header: "Origin: http://a.example", reply: "Access-Control-Allow-Origin: http://a.example\nAccess-Control-Allow-Credentials: true"},
		{name: "other origin", url: "/shelves?limit=0", header: "Origin: http://b.example", reply: "Access-Control-Allow-Origin:"},
		{name: "trace header", url: "/shelves?limit=0", header: "X-Request-Id: 7", reply: "X-Request-Id: 7"},
	})
	w := off.do(t, scenario{url: "/shelves?limit=0"})
	for _, phase := range []string{"jwt;dur=", "parse;dur=", "plan;dur=", "transaction;dur=", "response;dur="} {
		if !strings.Contains(w.Header().Get("Server-Timing"), phase) {
			t.Errorf("Server-Timing %q lacks %s", w.Header().Get("Server-Timing"), phase)
		}
	}
}

func TestOpenAPI(t *testing.T) {
	b := open(t, nil)
	all := openOn(t, b.db, func(c *rest.Config) { c.OpenAPI, c.OpenAPISecured = rest.IgnorePrivileges, true })
	off := openOn(t, b.db, func(c *rest.Config) { c.OpenAPI = rest.OpenAPIDisabled })
	var doc struct {
		Info        struct{ Title, Description string }
		Definitions map[string]any
		Paths       map[string]map[string]any
		Security    []any
	}
	get := func(b *bench) {
		doc.Definitions, doc.Paths, doc.Security = nil, nil, nil
		w := b.do(t, scenario{url: "/"})
		if w.Code != 200 || w.Header().Get("Content-Type") != "application/openapi+json; charset=utf-8" {
			t.Fatalf("%d %v", w.Code, w.Header())
		}
		if err := json.Unmarshal(w.Body.Bytes(), &doc); err != nil {
			t.Fatal(err)
		}
	}
	get(b)
	if doc.Info.Title != "Library" || doc.Info.Description != "Books and who wrote them." {
		t.Errorf("%+v", doc.Info)
	}
	if doc.Definitions["authors"] == nil || doc.Definitions["secrets"] != nil {
		t.Error("by privilege: authors is to be there, secrets not")
	}
	if doc.Paths["/rpc/nothing"]["get"] != nil || doc.Paths["/rpc/add"]["get"] == nil {
		t.Error("volatile functions have no GET, others do")
	}
	get(all)
	if doc.Definitions["secrets"] == nil || len(doc.Security) != 1 {
		t.Error("ignoring privileges: secrets is to be there, and the security definition")
	}
	off.run(t, []scenario{{name: "disabled", url: "/", status: 404, want: `{"code":"PGRST126","message":"Root endpoint metadata is disabled","details":null,"hint":null}`}})
	fn := openOn(t, b.db, func(c *rest.Config) { c.RootFunction = &schema.Name{Name: "pair"} })
	fn.run(t, []scenario{{name: "function at the root", url: "/", want: `{"x":1,"y":"one"}`}})
}

// TestReloadPreparesAnew: a filter is of its column's type, also when that has changed and connections had prepared it.
func TestReloadPreparesAnew(t *testing.T) {
	b := open(t, nil)
	ask := func(url string) string {
		w := httptest.NewRecorder()
		b.engine.ServeHTTP(w, scenario{url: url}.request(t))
		return w.Body.String()
	}
	loaded := func(table string) {
		t.Helper()
		b.db.Exec(`create table api.` + table + ` (); grant select on api.` + table + ` to anon; notify pgrst, 'reload schema'`)
		for end := time.Now().Add(10 * time.Second); ask("/"+table) != "[]"; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal(ask("/" + table))
			}
		}
	}
	b.db.Exec(`create table api.sized (id int); insert into api.sized values (5); grant select on api.sized to anon`)
	loaded("one")
	all := func(url, want string) {
		t.Helper()
		var visitors sync.WaitGroup
		for range 32 {
			visitors.Go(func() {
				if got := ask(url); got != want {
					t.Errorf("%s: %s, want %s", url, got, want)
				}
			})
		}
		visitors.Wait()
	}
	all("/sized?id=eq.5", `[{"id":5}]`)
	b.db.Exec(`alter table api.sized alter id type text using 'five'`)
	loaded("two")
	all("/sized?id=eq.five", `[{"id":"five"}]`)
}

// TestReload: what changes in the database is seen after a notification, and no request waits or fails meanwhile.
func TestReload(t *testing.T) {
	b := open(t, nil)
	b.run(t, []scenario{{name: "before", url: "/fresh", status: 404}})
	b.db.Exec(`create table api.fresh (id int); grant select on api.fresh to anon; notify pgrst, 'reload schema'`)
	deadline := time.Now().Add(10 * time.Second)
	for {
		w := httptest.NewRecorder()
		b.engine.ServeHTTP(w, scenario{url: "/fresh"}.request(t))
		if w.Code == 200 {
			break
		}
		if w.Code != 404 || time.Now().After(deadline) {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		b.run(t, []scenario{{name: "meanwhile", url: "/shelves?limit=0"}})
	}
}
