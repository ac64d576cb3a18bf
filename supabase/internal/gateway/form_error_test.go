package gateway

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestFormErrorPage: a form post gets the gateway's errors as a page, a script as JSON.
func TestFormErrorPage(t *testing.T) {
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "absent")) // so that long bodies get 503
	s := live(t, func(o *Options) {
		o.Functions, o.REST, o.Limits.Rate, o.Limits.Stall = readAll, readAll, 4, 3*time.Second
		o.FormErrorPage = []byte(`<a href="/form/">Try again</a>`)
	})
	const form, browser = "multipart/form-data; boundary=x", "text/html,application/xhtml+xml,*/*;q=0.8"
	post := func(path, contentType, accept string, size int) *http.Response {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+path,
			strings.NewReader(strings.Repeat("x", size)))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", contentType)
		r.Header.Set("Accept", accept)
		r.Header.Set("Apikey", "anon")
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = res.Body.Close() })
		return res
	}
	isPage := func(what string, res *http.Response, status int, page bool) {
		t.Helper()
		body, kind := text(t, res), res.Header.Get("Content-Type")
		if res.StatusCode != status || (kind == "text/html; charset=utf-8") != page ||
			strings.Contains(body, `href="/form/"`) != page {
			t.Errorf("%s: %d %s %s", what, res.StatusCode, kind, body)
		}
		policy := res.Header.Get("Content-Security-Policy")
		if page && (!strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "script") ||
			res.Header.Get("Cache-Control") != "no-store") {
			t.Errorf("%s: %v", what, res.Header)
		}
	}
	const path = "/functions/v1/hello"
	isPage("busy", post(path, form, browser, 100_000), 503, true)
	isPage("busy, script", post(path, form, "*/*", 100_000), 503, false)
	isPage("busy, JSON", post(path, "application/json", browser, 100_000), 503, false)

	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nAccept: %s\r\nContent-Type: %s\r\nContent-Length: 1000\r\n\r\nx",
		path, browser, form)
	slow, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	isPage("too slow", slow, 408, true)
	isPage("rate", post(path, form, browser, 10), 429, true)
	isPage("rate, script", post(path, form, "*/*", 10), 429, false)
}
