package site

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/andybalholm/brotli"
	"github.com/google/go-cmp/cmp"
)

var files = fstest.MapFS{
	"index.html":               {Data: []byte(`<html lang="en"><head><link rel="canonical" href="__SITE_URL__/"><style>a{}</style></head><a href="__PROFILE_URL__">f</a><script type="application/json">{"f":"__PROFILE_URL__"}</script><script>boot()</script><script src="/x.js"></script></html>`)},
	"404.html":                 {Data: []byte("en 404")},
	"learn/404.html":           {Data: []byte("en guide 404")},
	"learn/index.html":         {Data: []byte("learn")},
	"learn/a-guide/index.html": {Data: []byte("a guide " + strings.Repeat("x", 5000))},
	"so/index.html":            {Data: []byte("so home")},
	"so/404.html":              {Data: []byte("so 404")},
	"so/learn/404.html":        {Data: []byte("so guide 404")},
	"sw.js":                    {Data: []byte("const v = `__SITE_URL__ __CONTACT_EMAIL__`")},
	"so/sw.js":                 {Data: []byte("so sw")},
	"robots.txt":               {Data: []byte("Sitemap: __SITE_URL__/sitemap.xml")},
	"sitemap.xml":              {Data: []byte("<loc>__PROFILE_URL__</loc>")},
	"assets/app-1.js":          {Data: []byte("__SITE_URL__")},
	"guide.pdf":                {Data: []byte("%PDF-0123456789")},
	".keep":                    {Data: nil},
	"csp.json":                 {Data: []byte(`{"style-src":["'sha256-late'"]}`)},
}

func newSite(t *testing.T) *Site {
	s, err := New(Options{
		Files: files,
		Values: Values{"SITE_URL": "https://example.org", "CONTACT_EMAIL": "c@example.org", "PHONE_NUMBER": "1",
			"PROFILE_URL": "https://example.org/f?a=1&b=2"},
		PublishableKey: func() string { return "sb_publishable_x" },
		Hosts:          []string{"other.example.org"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func get(s *Site, method, target string, headers ...string) *http.Response {
	r := httptest.NewRequest(method, target, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w.Result()
}

func body(t *testing.T, r *http.Response) string {
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestRoutes(t *testing.T) {
	s := newSite(t)
	tests := []struct {
		method, target string
		status         int
		body, location string
		cache          string
	}{
		{"GET", "/learn/", 200, "learn", "", "no-cache"},
		{"GET", "/so/", 200, "so home", "", "no-cache"},
		{"GET", "/so", 308, "", "/so/", "no-cache"},
		{"GET", "/so?a=b&c=%20", 308, "", "/so/?a=b&c=%20", "no-cache"},
		{"GET", "/learn", 308, "", "/learn/", "no-cache"},
		{"GET", "/index.html", 308, "", "/", "no-cache"},
		{"GET", "/learn/a-guide/index.html", 308, "", "/learn/a-guide/", "no-cache"},
		{"GET", "/learn//?a=b", 308, "", "/learn/?a=b", "no-cache"},
		{"GET", "/so//", 308, "", "/so/", "no-cache"},
		{"GET", "/learn///a-guide//", 308, "", "/learn/a-guide/", "no-cache"},
		{"GET", "/learn//index.html", 308, "", "/learn/", "no-cache"},
		{"GET", "/nothing//", 404, "en 404", "", "no-cache"},
		{"GET", "/assets//app-1.js", 404, "en 404", "", "no-cache"},
		{"GET", "/nothing", 404, "en 404", "", "no-cache"},
		{"GET", "/nothing/", 404, "en 404", "", "no-cache"},
		{"GET", "/so/nothing/", 404, "so 404", "", "no-cache"},
		{"GET", "/solar/", 404, "en 404", "", "no-cache"}, // a folder is a segment of the path, not a prefix
		{"GET", "/learn/unknown/", 404, "en guide 404", "", "no-cache"},
		{"GET", "/so/learn/unknown", 404, "so guide 404", "", "no-cache"},
		{"GET", "/learn/a/b/", 404, "en guide 404", "", "no-cache"},
		{"GET", "/404.html", 404, "en 404", "", "no-cache"},
		{"GET", "/.keep", 404, "en 404", "", "no-cache"},
		{"GET", "/csp.json", 404, "en 404", "", "no-cache"},
		{"GET", "/assets/", 404, "en 404", "", "no-cache"},
		{"GET", "/assets/app-1.js", 200, "__SITE_URL__", "", "public, max-age=31536000, immutable"},
		{"GET", "/sw.js", 200, "const v = `https://example.org c@example.org`", "", "no-store"},
		{"GET", "/so/sw.js", 200, "so sw", "", "no-store"},
		{"GET", "/robots.txt", 200, "Sitemap: https://example.org/sitemap.xml", "", "no-cache"},
		{"GET", "/sitemap.xml", 200, "<loc>https://example.org/f?a=1&amp;b=2</loc>", "", "no-cache"},
		{"GET", "/guide.pdf", 200, "%PDF-0123456789", "", "public, max-age=86400"},
		{"HEAD", "/guide.pdf", 200, "", "", "public, max-age=86400"},
		{"HEAD", "/nothing", 404, "", "", "no-cache"},
		{"POST", "/learn/", 405, "Method Not Allowed\n", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.method+tt.target, func(t *testing.T) {
			r := get(s, tt.method, tt.target)
			got := []any{r.StatusCode, body(t, r), r.Header.Get("Location"), r.Header.Get("Cache-Control")}
			if diff := cmp.Diff([]any{tt.status, tt.body, tt.location, tt.cache}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPageIsFilledByContext(t *testing.T) {
	page := body(t, get(newSite(t), "GET", "/"))
	for _, want := range []string{
		`<a href="https://example.org/f?a=1&amp;b=2">`, // markup is escaped
		`{"f":"https://example.org/f?a=1&b=2"}`,        // a script's text is not decoded by browsers
		`<link rel="canonical" href="https://example.org/">`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%s is missing in %s", want, page)
		}
	}
}

// TestValuesStayTexts checks that no value ends the string, the attribute or the tag it stands in.
func TestValuesStayTexts(t *testing.T) {
	const hostile = "a\nb \"'`${x}\\ </script><!-- & \u2028 \U0001F600"
	tree := fstest.MapFS{
		"index.html":  {Data: []byte(`<p title="__A__">__A__</p><script type="application/json">{"a":"__A__"}</script>`)},
		"404.html":    {Data: []byte("none")},
		"sw.js":       {Data: []byte("const a = '__A__'")},
		"sitemap.xml": {Data: []byte("<loc>__A__</loc>")},
	}
	s, err := New(Options{Files: tree, Values: Values{"A": hostile}})
	if err != nil {
		t.Fatal(err)
	}
	page := body(t, get(s, "GET", "/"))
	_, data, _ := strings.Cut(page, `<script type="application/json">`)
	data, _, _ = strings.Cut(data, "</script>")
	var got struct{ A string }
	if err := json.Unmarshal([]byte(data), &got); err != nil || got.A != hostile {
		t.Errorf("the page's data: %v, %q", err, data)
	}
	if want := html.EscapeString(hostile); !strings.HasPrefix(page, `<p title="`+want+`">`+want+`</p>`) {
		t.Errorf("markup: %s", page)
	}
	worker := body(t, get(s, "GET", "/sw.js"))
	inner := strings.TrimSuffix(strings.TrimPrefix(worker, "const a = '"), "'")
	if strings.ContainsAny(inner, "'`\"$<\n") {
		t.Errorf("a script: %s", worker)
	}
	if got := body(t, get(s, "GET", "/sitemap.xml")); got != "<loc>"+html.EscapeString(hostile)+"</loc>" {
		t.Errorf("XML: %s", got)
	}
}

func TestPolicyAllowsWhatThePageCarries(t *testing.T) {
	hash := func(s string) string {
		sum := sha256.Sum256([]byte(s))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	policy := get(newSite(t), "GET", "/").Header.Get("Content-Security-Policy")
	var script string
	for directive := range strings.SplitSeq(policy, "; ") {
		if strings.HasPrefix(directive, "script-src ") {
			script = directive
		}
	}
	if want := "script-src 'self' " + hash("boot()"); script != want {
		t.Errorf("got %s, want %s", script, want)
	}
	if !strings.Contains(policy, "style-src 'self' "+hash("a{}")+" 'sha256-late';") {
		t.Error("the style elements of the page and of the toasts are not allowed:", policy)
	}
	if strings.Contains(policy, "style-src 'unsafe-inline'") || strings.Contains(script, "unsafe") {
		t.Error("too much is allowed:", policy)
	}
}

func TestEncodings(t *testing.T) {
	s := newSite(t)
	plain := body(t, get(s, "GET", "/learn/a-guide/"))
	for round := range 2 { // the quick compression, then the best one
		for accept, want := range map[string]string{
			"gzip, deflate, br": "br", "gzip": "gzip", "": "", "identity": "", "br;q=0, gzip;q=0.5": "gzip",
			"br;q=1.0": "br", "brotli": "",
		} {
			r := get(s, "GET", "/learn/a-guide/", "Accept-Encoding", accept)
			if got := r.Header.Get("Content-Encoding"); got != want {
				t.Errorf("%q: got %q, want %q", accept, got, want)
			}
			var in io.Reader = r.Body
			switch want {
			case "br":
				in = brotli.NewReader(r.Body)
			case "gzip":
				in, _ = gzip.NewReader(r.Body)
			}
			if got, err := io.ReadAll(in); err != nil || string(got) != plain {
				t.Errorf("%q, round %d: another text (%v)", accept, round, err)
			}
			if r.Header.Get("Vary") != "Accept-Encoding" {
				t.Error("Vary is missing")
			}
		}
		s.Compress(t.Context())
	}
}

func TestConditionalRequests(t *testing.T) {
	s := newSite(t)
	for _, accept := range []string{"", "br", "gzip"} {
		tag := get(s, "GET", "/learn/", "Accept-Encoding", accept).Header.Get("ETag")
		r := get(s, "GET", "/learn/", "Accept-Encoding", accept, "If-None-Match", tag)
		if r.StatusCode != 304 || body(t, r) != "" {
			t.Errorf("%q: %s answers %d", accept, tag, r.StatusCode)
		}
		if r := get(s, "GET", "/learn/", "Accept-Encoding", accept, "If-None-Match", `"other"`); r.StatusCode != 200 {
			t.Errorf("%q: another tag answers %d", accept, r.StatusCode)
		}
	}
	if r := get(s, "GET", "/nothing", "If-None-Match", "*"); r.StatusCode != 404 {
		t.Error("a missing page is", r.StatusCode)
	}
}

func TestRanges(t *testing.T) {
	s := newSite(t)
	r := get(s, "GET", "/guide.pdf", "Range", "bytes=5-8")
	if got := body(t, r); r.StatusCode != 206 || got != "0123" || r.Header.Get("Content-Range") != "bytes 5-8/15" {
		t.Error(r.StatusCode, got, r.Header)
	}
	const page = "/learn/a-guide/"
	whole := body(t, get(s, "GET", page))
	r = get(s, "GET", page, "Range", "bytes="+strings.Repeat("0-0,", maxRanges)+"0-0")
	if got := body(t, r); len(whole) <= maxRanges || r.StatusCode != 200 || got != whole {
		t.Errorf("%d ranges of %d bytes: %d, %q", maxRanges+1, len(whole), r.StatusCode, got)
	}
	if r := get(s, "GET", "/guide.pdf", "Range", "bytes=99-"); r.StatusCode != 416 {
		t.Error(r.StatusCode)
	}
	r = get(s, "GET", "/learn/a-guide/", "Range", "bytes=0-6", "Accept-Encoding", "br")
	if got := body(t, r); got != "a guide" || r.Header.Get("Content-Encoding") != "" {
		t.Error("a range of a compressed page:", got, r.Header)
	}
}

func TestSiteJSON(t *testing.T) {
	for host, url := range map[string]string{
		"localhost:1": "http://localhost:1", "[::1]:80": "http://[::1]:80", "example.com": "https://example.org",
		"EXAMPLE.org": "http://EXAMPLE.org", "other.example.org:8443": "http://other.example.org:8443",
		"x@evil.example.org": "https://example.org", `x"><script>`: "https://example.org", "a/b": "https://example.org",
		"?": "https://example.org",
	} {
		r := get(newSite(t), "GET", "/site.json", "X-Forwarded-Host", host)
		var got map[string]string
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
			t.Fatal(err)
		}
		want := map[string]string{"url": url, "publishableKey": "sb_publishable_x"}
		if diff := cmp.Diff(want, got); diff != "" || r.Header.Get("Cache-Control") != "no-store" {
			t.Error(host, diff, r.Header)
		}
	}
}

func FuzzFillPage(f *testing.F) {
	f.Add([]byte(`<p title=__SITE_URL__><script>__SITE_URL__</script><!-- __SITE_URL__ --><style>x`))
	f.Fuzz(func(t *testing.T, page []byte) {
		same := Values{"SITE_URL": "__SITE_URL__", "PROFILE_URL": "__PROFILE_URL__"}
		if got := fillPage(page, same); !bytes.Equal(got, page) {
			t.Errorf("%q becomes %q", page, got)
		}
		inline(page)
	})
}
