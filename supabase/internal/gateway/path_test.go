package gateway

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

func TestPathNormalisation(t *testing.T) {
	h := testGateway()
	const internal = `{"message":"The service _internal is not part of this installation.","msg":"The service _internal is not part of this installation."}` + "\n"
	tests := []struct {
		target string
		status int
		body   string
	}{
		{"/auth/v1/verify/../admin/users", 401, invalidKey},
		{"/auth/v1/verify/%2e%2e/admin/users", 401, invalidKey},
		{"/auth/v1/verify/%2E%2E/admin/users", 401, invalidKey},
		{"/auth/v1/verify/..%2fadmin/users", 400, "Bad Request"},
		{"/auth/v1/verify/..%5Cadmin", 400, "Bad Request"},
		{"//rest/v1/t", 401, "Unauthorized"},
		{"/rest//v1/./t", 401, "Unauthorized"},
		{"//evil.example.org/..", 200, "site GET / auth= sb="},
		{"/a%00b", 400, "Bad Request"},
		{"/a%0d%0aSet-Cookie:x", 400, "Bad Request"},
		{"/storage/v1/object/public/b/a%20b%C3%A9.png", 200, "storage GET /object/public/b/a%20b%C3%A9.png auth= sb="},
		{"/storage/v1/object/public/b/a+b&c=d.png", 200, "storage GET /object/public/b/a+b&c=d.png auth= sb="},
		{"/learn/%61/", 200, "site GET /learn/a/ auth= sb="},
		{"/functions/v1/_internal/metric", 404, internal},
		{"/functions/v1/%5finternal/metric", 404, internal},
		{"/functions/v1/%5Finternal", 404, internal},
		{"/functions/v1/_%69nternal/metric", 404, internal},
		{"/%66unctions/v1/%5F%69nternal/metric", 404, internal},
		{"/auth/v1/%61dmin/users", 401, invalidKey},
		{"/%72est/v1/t", 401, "Unauthorized"},
		{"/functions/v1/%255finternal", 200, "functions GET /%255finternal auth= sb="}, // decodes to another name
		{"/rest/v1/t?path=a%2fb/../c", 401, "Unauthorized"},
	}
	for _, tt := range tests {
		t.Run(tt.target, func(t *testing.T) {
			r := ask(h, "GET", tt.target)
			if got := text(t, r); r.StatusCode != tt.status || got != tt.body {
				t.Errorf("%d %s, want %d %s", r.StatusCode, got, tt.status, tt.body)
			}
		})
	}
	if r := ask(h, "GET", "/rest/v1/t", "apikey", "anon", "X_Role", "service_role"); r.StatusCode != 400 {
		t.Error("header with an underscore:", r.StatusCode)
	}
}

// TestStoragePathsAsSent: storage gets the path below its prefix unchanged, because it is part of
// an object's name and of an S3 signature.
func TestStoragePathsAsSent(t *testing.T) {
	seen := make(chan string, 1)
	upstream := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter,
		r *http.Request) {
		seen <- r.RequestURI
	}))
	defer upstream.Close()
	local := testGateway()
	proxied := testGateway(func(o *Options) { o.Storage = proxyTo(t, upstream.URL, 0) })
	for _, tt := range [][2]string{
		{"/object/b/a//b.txt", "/object/b/a//b.txt"},
		{"/object/b//a.txt", "/object/b//a.txt"},
		{"//object/b/a.txt", "//object/b/a.txt"},
		{"/object/b/a%2Fb%2fc.txt", "/object/b/a%2Fb%2fc.txt"},
		{"/object/b/%61%7E~.txt", "/object/b/%61%7E~.txt"},
		{"/object/b/a%5Cb%00.txt", "/object/b/a%5Cb%00.txt"},
		{"/object/b/../../../rest/v1/t", "/object/b/../../../rest/v1/t"},
		{"/object/b/%2e%2e%2fx?q=%2f", "/object/b/%2e%2e%2fx?q=%2f"},
		{"/s3/b/a//b.html", "/s3/b/a//b.html"},
		{"", "/"},
		{"/", "/"},
	} {
		for _, prefix := range []string{"/storage/v1", "//storage/v1", "/storage/./v1", "/%73torage//v1"} {
			target := prefix + tt[0]
			if got, want := text(t, ask(local, "GET", target)), "storage GET "+tt[1]+" auth= sb="; got != want {
				t.Errorf("%s: %s, want %s", target, got, want)
			}
			if r := ask(proxied, "GET", target); r.StatusCode != 200 {
				t.Errorf("%s: %d", target, r.StatusCode)
			} else if got := <-seen; got != tt[1] {
				t.Errorf("%s: proxied as %s, want %s", target, got, tt[1])
			}
		}
	}
	for target, want := range map[string]int{"/storage/v10//x": 200, "/storage/v1%2fobject": 400,
		"/x/../storage/v1%2fobject": 400, "/storage/../rest/v1/t": 401, "/storage%2Fv1/object/b/x": 400} {
		if r := ask(local, "GET", target); r.StatusCode != want || strings.HasPrefix(text(t, r), "storage") {
			t.Errorf("%s: %d, want %d of another service", target, r.StatusCode, want)
		}
	}
}

func FuzzNormalise(f *testing.F) {
	for _, s := range []string{"/a/../b", "/%2e%2e/x", "//a", "/a%2fb", "/a b", "*", "", "/functions/v1/%5Finternal",
		"/%7e%2D%25%35f"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		u, err := url.ParseRequestURI(in)
		if err != nil {
			return
		}
		out, ok := normalise(u)
		if !ok {
			return
		}
		if out == nil || !strings.HasPrefix(out.Path, "/") {
			t.Fatalf("%q becomes %v", in, out)
		}
		if strings.Contains(out.Path, "//") || strings.Contains(out.Path+"/", "/../") ||
			strings.Contains(out.Path+"/", "/./") {
			t.Errorf("%q becomes %q", in, out.Path)
		}
		for c := range 256 {
			if unreserved(byte(c)) && strings.Contains(strings.ToLower(out.EscapedPath()), fmt.Sprintf("%%%02x", c)) {
				t.Errorf("%q becomes %q, which is not normal", in, out.EscapedPath())
			}
		}
		if decoded, err := url.PathUnescape(out.EscapedPath()); err != nil || decoded != out.Path {
			t.Errorf("%q becomes %q and %q", in, out.EscapedPath(), out.Path)
		}
		if again, ok := normalise(out); !ok || again.EscapedPath() != out.EscapedPath() {
			t.Errorf("%q is not stable: %q", in, again)
		}
	})
}

// TestServiceAt: paths with a service's prefix count for that service in the metrics, all others
// for the site.
func TestServiceAt(t *testing.T) {
	g := &gateway{}
	g.services = g.table()
	for path, want := range map[string]string{
		"/auth/v1/token": "auth", "/rest/v1": "rest", "/rest/v1/": "rest", "/rest/v10/t": "site", "/pg/tables": "meta",
		"/pgx": "site", "/functions/v1/_internal/metric": "functions", "/realtime/v1/websocket": "realtime",
		"/graphql/v1": "graphql", "/storage/v1/object/a/b": "storage", "/": "site", "": "site",
	} {
		if got := g.serviceAt(path).name; got != want {
			t.Errorf("%q: %s, want %s", path, got, want)
		}
	}
}
