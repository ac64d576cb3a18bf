package gateway

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		// httputil keeps a connection's reader for a moment after the test server has closed.
		goleak.IgnoreTopFunction("net/http.(*persistConn).readLoop"),
		goleak.IgnoreTopFunction("net/http.(*persistConn).writeLoop"))
}

// keySet is a fixed KeySet of legacy and opaque keys.
type keySet map[string]Key

func (k keySet) Resolve(apikey string) (Key, bool) { key, ok := k[apikey]; return key, ok }

var testKeys = keySet{
	"anon":                {Role: "anon", Token: "anon"},
	"service":             {Role: "service_role", Token: "service"},
	"retired":             {Role: "anon", Token: "anon-es256"},
	"sb_publishable_1":    {Role: "anon", Token: "anon-es256"},
	"sb_secret_1":         {Role: "service_role", Token: "service-es256"},
	"sb_secret_functions": {Role: "service_role", Token: "service-es256", Functions: true},
}

// echo is a service that replies with the request that it got.
func echo(name string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "https://service.example.org")
		fmt.Fprintf(w, "%s %s %s auth=%s sb=%s", name, r.Method, r.URL.RequestURI(), r.Header.Get("Authorization"),
			r.Header.Get("Sb-Api-Key"))
	})
}

func testGateway(change ...func(*Options)) http.Handler {
	o := Options{
		Auth: echo("auth"), REST: echo("rest"), Storage: echo("storage"), Functions: echo("functions"),
		Meta: echo("meta"), Site: echo("site"), Keys: testKeys, Limits: Limits{Rate: -1, AuthRate: -1},
	}
	for _, c := range change {
		c(&o)
	}
	return New(o)
}

func ask(h http.Handler, method, target string, headers ...string) *http.Response {
	r := httptest.NewRequest(method, target, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func text(t *testing.T, r *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

type headers []string

// routeTest is a GET request to the gateway with its reply.
type routeTest struct {
	name, target string
	headers      headers
	status       int
	body         string
}

func checkRoutes(t *testing.T, tests []routeTest) {
	h := testGateway()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := ask(h, "GET", tt.target, tt.headers...)
			if diff := cmp.Diff(fmt.Sprint(tt.status, " ", tt.body),
				fmt.Sprint(r.StatusCode, " ", text(t, r))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRoutesAndKeys(t *testing.T) {
	checkRoutes(t, []routeTest{
		{"auth needs a key", "/auth/v1/user", nil, 401, invalidKey},
		{"unknown key", "/auth/v1/user", headers{"apikey", "x"}, 401, invalidKey},
		{"legacy key is the token", "/auth/v1/user", headers{"apikey", "anon"}, 200,
			"auth GET /user auth=Bearer anon sb="},
		{"opaque key is translated", "/rest/v1/t", headers{"apikey", "sb_publishable_1"}, 200,
			"rest GET /t auth=Bearer anon-es256 sb="},
		{"opaque bearer is replaced", "/rest/v1/t", headers{"apikey", "sb_secret_1", "Authorization",
			"Bearer sb_secret_1"}, 200, "rest GET /t auth=Bearer service-es256 sb="},
		{"session token stays", "/rest/v1/t", headers{"apikey", "sb_publishable_1", "Authorization", "Bearer session"},
			200, "rest GET /t auth=Bearer session sb="},
		{"retired key as bearer is replaced", "/rest/v1/t", headers{"apikey", "retired", "Authorization",
			"Bearer retired"}, 200, "rest GET /t auth=Bearer anon-es256 sb="},
		{"other scheme is replaced", "/rest/v1/t", headers{"apikey", "anon", "Authorization", "Basic eA=="}, 200,
			"rest GET /t auth=Bearer anon sb="},
		{"session token without a key", "/rest/v1/t", headers{"Authorization", "Bearer anon"}, 401, "Unauthorized"},
		{"key in the query is removed", "/rest/v1/t?a=eq.1&apikey=anon&b=is.null", nil, 200,
			"rest GET /t?a=eq.1&b=is.null auth=Bearer anon sb="},
		{"header before query", "/rest/v1/t?apikey=service", headers{"apikey", "anon"}, 200,
			"rest GET /t auth=Bearer anon sb="},
		{"filter on a column apikey stays", "/rest/v1/t?a=eq.1&apikey=eq.abc&apikey=neq.d%20e&apikey=%zz",
			headers{"apikey", "service"}, 200,
			"rest GET /t?a=eq.1&apikey=eq.abc&apikey=neq.d%20e&apikey=%zz auth=Bearer service sb="},
		{"filter and keys in the query", "/rest/v1/t?apikey=eq.abc&apikey=anon&apikey=service&b=is.null", nil, 200,
			"rest GET /t?apikey=eq.abc&b=is.null auth=Bearer anon sb="},
		{"secret key in the query is removed", "/rest/v1/t?apikey=sb%5Fsecret_1&apikey=eq.abc",
			headers{"apikey", "anon"}, 200, "rest GET /t?apikey=eq.abc auth=Bearer anon sb="},
		{"filter is not a key", "/rest/v1/t?apikey=eq.abc", nil, 401, "Unauthorized"},
		{"revoked key and filter", "/rest/v1/t?apikey=sb_secret_0&apikey=eq.abc", nil, 401, "Unauthorized"},
		{"revoked key is removed", "/storage/v1/object/public/a/b.pdf?apikey=sb_secret_0&download=", nil, 200,
			"storage GET /object/public/a/b.pdf?download= auth= sb="},
	})
}

func TestRoutesOfAuth(t *testing.T) {
	checkRoutes(t, []routeTest{
		{"verify is open", "/auth/v1/verify?token=t", nil, 200, "auth GET /verify?token=t auth= sb="},
		{"callback is open", "/auth/v1/callback", nil, 200, "auth GET /callback auth= sb="},
		{"authorize is open", "/auth/v1/authorize", nil, 200, "auth GET /authorize auth= sb="},
		{"jwks is open", "/auth/v1/.well-known/jwks.json", nil, 200, "auth GET /.well-known/jwks.json auth= sb="},
		{"saml is open", "/auth/v1/sso/saml/acs", nil, 200, "auth GET /sso/saml/acs auth= sb="},
		{"sso needs a key", "/auth/v1/sso", nil, 401, invalidKey},
		{"longer path than an open one", "/auth/v1/verifyx", nil, 401, invalidKey},
		{"oauth token keeps its headers", "/auth/v1/oauth/token",
			headers{"Authorization", "Basic eA==", "apikey", "anon"}, 200, "auth GET /oauth/token auth=Basic eA== sb="},
		{"userinfo without a key", "/auth/v1/oauth/userinfo", headers{"Authorization", "Bearer session"}, 200,
			"auth GET /oauth/userinfo auth=Bearer session sb="},
		{"discovery is open", "/auth/v1/.well-known/openid-configuration", nil, 200,
			"auth GET /.well-known/openid-configuration auth= sb="},
		{"metadata at the issuer", "/auth/v1/.well-known/oauth-authorization-server", nil, 200,
			"auth GET /.well-known/oauth-authorization-server auth= sb="},
		{"metadata inserted before the issuer's path", "/.well-known/oauth-authorization-server/auth/v1", nil, 200,
			"auth GET /.well-known/oauth-authorization-server auth= sb="},
		{"metadata at the root", "/.well-known/oauth-authorization-server", nil, 200,
			"auth GET /.well-known/oauth-authorization-server auth= sb="},
		{"consent needs a key", "/auth/v1/oauth/authorizations/x", nil, 401, invalidKey},
		{"clients need a key", "/auth/v1/admin/oauth/clients", nil, 401, invalidKey},
	})
}

func TestRoutesOfServices(t *testing.T) {
	checkRoutes(t, []routeTest{
		{"OpenAPI needs the service key", "/rest/v1/", headers{"apikey", "anon"}, 403, "RBAC: access denied"},
		{"OpenAPI without slash", "/rest/v1", headers{"apikey", "anon"}, 403, "RBAC: access denied"},
		{"OpenAPI with the service key", "/rest/v1/", headers{"apikey", "sb_secret_1"}, 200,
			"rest GET / auth=Bearer service-es256 sb="},
		{"meta needs the service key", "/pg/tables", headers{"apikey", "anon"}, 403, "RBAC: access denied"},
		{"meta refuses the functions' key", "/pg/tables", headers{"apikey", "sb_secret_functions"}, 403,
			"RBAC: access denied"},
		{"meta refuses it in the query", "/pg/tables?apikey=sb_secret_functions", nil, 403, "RBAC: access denied"},
		{"meta needs a key", "/pg/tables", nil, 401, "Unauthorized"},
		{"meta", "/pg/tables", headers{"apikey", "service"}, 200, "meta GET /tables auth=Bearer service sb="},
		{"storage without a key", "/storage/v1/object/public/a/b.pdf", nil, 200,
			"storage GET /object/public/a/b.pdf auth= sb="},
		{"storage with a key", "/storage/v1/bucket", headers{"apikey", "sb_secret_1"}, 200,
			"storage GET /bucket auth=Bearer service-es256 sb="},
		{"storage with an unknown opaque bearer", "/storage/v1/bucket", headers{"Authorization", "Bearer sb_x"}, 200,
			"storage GET /bucket auth= sb="},
		{"s3 signature stays", "/storage/v1/s3/b", headers{"Authorization", "AWS4-HMAC-SHA256 x", "apikey", "anon"},
			200, "storage GET /s3/b auth=AWS4-HMAC-SHA256 x sb="},
		{"functions without a key", "/functions/v1/f", nil, 200, "functions GET /f auth= sb="},
		{"functions: key in sb-api-key", "/functions/v1/f/x?y=1", headers{"apikey", "sb_publishable_1"}, 200,
			"functions GET /f/x?y=1 auth= sb=anon-es256"},
		{"functions: Authorization stays", "/functions/v1/f",
			headers{"apikey", "sb_publishable_1", "Authorization", "Bearer session"}, 200,
			"functions GET /f auth=Bearer session sb=anon-es256"},
		{"functions: legacy key", "/functions/v1/f", headers{"apikey", "anon", "Authorization", "Bearer anon"}, 200,
			"functions GET /f auth=Bearer anon sb="},
		{"functions: forged sb-api-key", "/functions/v1/f", headers{"sb-api-key", "service"}, 200,
			"functions GET /f auth= sb="},
		{"functions: invalid", "/functions/v1/f", headers{"apikey", "sb_x"}, 401,
			`{"message":"Invalid API key","msg":"Invalid API key"}` + "\n"},
		{"functions: invalid bearer", "/functions/v1/f", headers{"Authorization", "Bearer sb_x"}, 401,
			`{"message":"Invalid API key","msg":"Invalid API key"}` + "\n"},
		{"functions: conflicting", "/functions/v1/f", headers{"apikey", "sb_publishable_1", "Authorization",
			"Bearer sb_secret_1"}, 401, `{"message":"Conflicting API keys","msg":"Conflicting API keys"}` + "\n"},
		{"functions: internal path", "/functions/v1/_internal/metric", headers{"apikey", "service"}, 404,
			`{"message":"The service _internal is not part of this installation.","msg":"The service _internal is not part of this installation."}` + "\n"},
		{"realtime not installed", "/realtime/v1/websocket?apikey=anon", nil, 404,
			`{"message":"The service realtime is not part of this installation.","msg":"The service realtime is not part of this installation."}` + "\n"},
		{"site", "/docs/learn", nil, 200, "site GET /docs/learn auth= sb="},
		{"longer path than the API's", "/rest/v10/t", nil, 200, "site GET /rest/v10/t auth= sb="},
	})
}

// TestGraphQLIsMissing checks the reply of a database without pg_graphql.
func TestGraphQLIsMissing(t *testing.T) {
	status := http.StatusNotFound
	rest := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		fmt.Fprint(w, "of REST")
	})
	h := testGateway(func(o *Options) { o.REST = rest })
	if res := ask(h, "POST", "/graphql/v1", "apikey", "anon"); res.StatusCode != http.StatusOK ||
		text(t, res) != noGraphQL {
		t.Errorf("%d", res.StatusCode)
	}
	status = http.StatusNotAcceptable
	if res := ask(h, "POST", "/graphql/v1", "apikey", "anon"); res.StatusCode != status || text(t, res) != "of REST" {
		t.Errorf("another error: %d", res.StatusCode)
	}
}

func TestGraphQLAndRealtimePaths(t *testing.T) {
	profile := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, r.URL.Path, " ", r.Header.Get("Content-Profile"))
	})
	h := testGateway(func(o *Options) { o.REST, o.Realtime = profile, echo("realtime") })
	if got := text(t, ask(h, "POST", "/graphql/v1", "apikey", "anon")); got != "/rpc/graphql graphql_public" {
		t.Error(got)
	}
	if got := text(t, ask(h, "GET",
		"/realtime/v1/websocket?apikey=sb_publishable_1&vsn=1.0.0")); got != "realtime GET /socket/websocket?apikey=anon-es256&vsn=1.0.0 auth=Bearer anon-es256 sb=" {
		t.Error(got)
	}
	if got := text(t, ask(h, "POST", "/realtime/v1/api/broadcast", "apikey", "anon")); !strings.HasPrefix(got,
		"realtime POST /api/broadcast") {
		t.Error(got)
	}
}

func TestCORS(t *testing.T) {
	h := testGateway()
	r := ask(h, "OPTIONS", "/rest/v1/t", "Origin", "https://a.example.org", "Access-Control-Request-Method", "POST",
		"Access-Control-Request-Headers", "apikey,x-mine")
	if r.StatusCode != 204 || r.Header.Get("Access-Control-Allow-Headers") != "apikey,x-mine" ||
		r.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Error(r.StatusCode, r.Header)
	}
	for _, target := range []string{"/rest/v1/t", "/auth/v1/user", "/functions/v1/f", "/storage/v1/bucket",
		"/realtime/v1/x"} {
		for _, key := range []string{"anon", "wrong"} { // pages must be able to read errors
			r := ask(h, "GET", target, "Origin", "https://a.example.org", "apikey", key)
			if got := r.Header.Values("Access-Control-Allow-Origin"); len(got) != 1 || got[0] != "*" {
				t.Errorf("%s with %s: %v", target, key, got)
			}
			if !strings.Contains(r.Header.Get("Access-Control-Expose-Headers"), "Content-Range") {
				t.Errorf("%s: no exposed headers", target)
			}
		}
	}
	// A function's own headers are readable, even if the function exposes fewer.
	own := testGateway(func(o *Options) {
		o.Functions = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Receipt", "7")
			w.Header().Set("Access-Control-Expose-Headers", "X-Receipt")
		})
	})
	r = ask(own, "POST", "/functions/v1/f", "Origin", "https://a.example.org")
	if got := r.Header.Values("Access-Control-Expose-Headers"); len(got) != 1 || !strings.HasSuffix(got[0], ", *") ||
		r.Header.Get("X-Receipt") != "7" {
		t.Error("function header not exposed:", got)
	}
	if got := ask(h, "OPTIONS", "/storage/v1/upload/resumable"); got.StatusCode != 200 {
		t.Error("OPTIONS without preflight headers:", got.StatusCode)
	}
	for _, target := range []string{"/site", "/healthz"} {
		r := ask(testGateway(func(o *Options) { o.Site = http.NotFoundHandler() }), "GET", target)
		if r.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s allows other origins", target)
		}
	}
}

func TestForwardedHeaders(t *testing.T) {
	shown := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, name := range []string{"X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "X-Forwarded-Port",
			"X-Forwarded-Prefix", "X-Real-Ip"} {
			fmt.Fprintf(w, "%s;", strings.Join(r.Header.Values(name), "+"))
		}
		fmt.Fprint(w, r.RemoteAddr)
	})
	forge := []string{"X-Forwarded-For", "203.0.113.9, 10.0.0.7", "X-Forwarded-Proto", "https", "X-Forwarded-Host",
		"example.org", "X-Forwarded-Port", "444", "X-Forwarded-Prefix", "/evil", "X-Real-Ip", "203.0.113.9",
		"Forwarded", "for=203.0.113.9"}
	tests := []struct {
		name    string
		proxies []netip.Prefix
		want    string
	}{
		{"untrusted peer", nil, "192.0.2.1;http;example.com;;/storage/v1;;192.0.2.1:1234"},
		{"trusted proxy", []netip.Prefix{netip.MustParsePrefix("192.0.2.1/32")},
			"10.0.0.7;https;example.org;444;/storage/v1;;10.0.0.7:0"},
		{"chain of trusted proxies", []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24"),
			netip.MustParsePrefix("10.0.0.0/8")}, "203.0.113.9;https;example.org;444;/storage/v1;;203.0.113.9:0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := testGateway(func(o *Options) { o.Storage, o.Proxies = shown, tt.proxies })
			if diff := cmp.Diff(tt.want, text(t, ask(h, "GET", "/storage/v1/bucket", forge...))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestMetricsAreLocal: local programs read the metrics without a token, clients behind a local
// proxy do not.
func TestMetricsAreLocal(t *testing.T) {
	h := testGateway(func(o *Options) { o.Proxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")} })
	for _, tt := range []struct {
		name, from string
		header     []string
		shown      bool
	}{
		{"local", "127.0.0.1:9", nil, true},
		{"local, by another name", "127.0.0.1:9", []string{"Host", "rebound.example.org"}, false},
		{"remote", "192.0.2.1:9", nil, false},
		{"remote through a local proxy", "127.0.0.1:9", []string{"X-Forwarded-For", "192.0.2.1"}, false},
		{"remote with a forged header", "192.0.2.1:9", []string{"X-Forwarded-For", "127.0.0.1"}, false},
		{"remote through a proxy with Forwarded", "127.0.0.1:9", []string{"Forwarded", "for=192.0.2.1"}, false},
	} {
		r := httptest.NewRequest("GET", "/metrics", nil)
		r.RemoteAddr, r.Host = tt.from, "localhost:54321"
		for i := 0; i < len(tt.header); i += 2 {
			if tt.header[i] == "Host" {
				r.Host = tt.header[i+1]
			}
			r.Header.Set(tt.header[i], tt.header[i+1])
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if shown := strings.Contains(w.Body.String(), "go_goroutines "); shown != tt.shown {
			t.Errorf("%s: %d, shown: %v", tt.name, w.Code, shown)
		}
	}
}

func TestSecurityHeaders(t *testing.T) {
	h := testGateway(func(o *Options) {
		o.Storage = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", r.URL.Query().Get("type"))
		})
	})
	want := []string{"X-Content-Type-Options", "Referrer-Policy", "X-Frame-Options", "Permissions-Policy",
		"Cross-Origin-Opener-Policy", "Cross-Origin-Resource-Policy", "Content-Security-Policy", "X-Request-Id"}
	for _, target := range []string{"/", "/healthz", "/readyz", "/rest/v1/t", "/auth/v1/verify", "/storage/v1/x",
		"/functions/v1/f", "/realtime/v1/", "/a%2fb", "/metrics"} {
		r := ask(h, "GET", target)
		for _, name := range want {
			if r.Header.Get(name) == "" {
				t.Errorf("%s (%d): no %s", target, r.StatusCode, name)
			}
		}
	}
	// Error replies of the services and of the gateway.
	failing := testGateway(func(o *Options) {
		o.Log = slog.New(slog.DiscardHandler)
		o.REST = proxyTo(t, "http://127.0.0.1:1", 0)
		o.Functions = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("unexpected") })
		o.Storage = http.HandlerFunc(func(w http.ResponseWriter,
			r *http.Request) {
			http.Error(w, "Bad Gateway", http.StatusBadGateway)
		})
		o.Site = http.NotFoundHandler()
		o.Limits = Limits{AuthBody: 1, AuthRate: 2, Rate: -1}
	})
	for _, tt := range []struct {
		method, target string
		status         int
	}{
		{"GET", "/no-such-page", 404}, {"GET", "/rest/v1/t", 503}, {"GET", "/storage/v1/x", 502},
		{"GET", "/functions/v1/f", 500}, {"GET", "/realtime/v1/", 404}, {"GET", "/rest/v1/", 403},
		{"OPTIONS", "/rest/v1/t", 204}, {"GET", "/a%00b", 400}, {"POST", "/auth/v1/token", 413},
		{"POST", "/auth/v1/token", 413}, {"POST", "/auth/v1/token", 429},
	} {
		r := httptest.NewRequest(tt.method, tt.target, strings.NewReader(strings.Repeat("x", 10)))
		r.Header.Set("Apikey", "anon")
		r.Header.Set("Origin", "https://example.org")
		r.Header.Set("Access-Control-Request-Method", "GET")
		w := httptest.NewRecorder()
		failing.ServeHTTP(w, r)
		if w.Code != tt.status {
			t.Errorf("%s %s: %d, want %d", tt.method, tt.target, w.Code, tt.status)
		}
		for _, name := range want {
			if w.Header().Get(name) == "" {
				t.Errorf("%s %s (%d): no %s", tt.method, tt.target, w.Code, name)
			}
		}
	}
	// Uploaded documents share the site's origin: they must not run scripts, and browsers must show
	// PDFs.
	for kind, sandboxed := range map[string]bool{"text/html": true, "image/svg+xml": true,
		"application/xhtml+xml; charset=x": true, "application/pdf": false} {
		policy := ask(h, "GET", "/storage/v1/object/public/b/x?type="+
			url.QueryEscape(kind)).Header.Get("Content-Security-Policy")
		if strings.Contains(policy, "sandbox") != sandboxed {
			t.Errorf("%s: %s", kind, policy)
		}
	}
	if r := ask(h, "GET", "https://example.org/"); r.Header.Get("Strict-Transport-Security") != "" {
		t.Error("HSTS without Options.HSTS")
	}
	h = testGateway(func(o *Options) { o.HSTS = true })
	if r := ask(h, "GET", "https://example.org/"); r.Header.Get("Strict-Transport-Security") == "" {
		t.Error("no HSTS over HTTPS")
	}
	if r := ask(h, "GET", "http://example.org/"); r.Header.Get("Strict-Transport-Security") != "" {
		t.Error("HSTS over plain HTTP")
	}
}
