package front

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

func TestStartPage(t *testing.T) {
	asked := false
	content := func(_ context.Context, private bool) StartPage {
		asked = asked || private
		return StartPage{Project: "shop <1>", Command: "daawo",
			Links:     []Row{{Label: "Studio", Value: "http://127.0.0.1:54323", Text: "tables"}},
			Addresses: []Row{{Label: "REST", Value: "http://127.0.0.1:54321/rest/v1"}},
			Keys:      []Row{{Label: "Secret key", Value: "sb_secret_x"}}, KeysNote: "local keys",
			Snippets:   []Row{{Label: "curl", Value: "curl 'x'"}},
			Functions:  []Row{{Label: "hello", Value: "http://127.0.0.1:54321/functions/v1/hello", Text: "2026-01-01"}},
			Migrations: []Row{{Label: "20260101000000", Value: "notes"}}, Applied: 1,
		}
	}
	ask := func(local bool, host, path, accept string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, "http://"+host+path, nil)
		r.Header.Set("Accept", accept)
		w := httptest.NewRecorder()
		ServeStartPage(local, content).ServeHTTP(w, r)
		return w
	}
	private := []string{"sb_secret_x", "local keys", "functions/v1/hello", "20260101000000", "curl &#39;x&#39;"}
	always := []string{"shop &lt;1&gt;", `href="http://127.0.0.1:54323"`, "/rest/v1"}
	page := ask(true, "127.0.0.1:54321", "/", "text/html").Body.String()
	for _, want := range append(private, always...) {
		if !strings.Contains(page, want) {
			t.Errorf("on this machine: no %q in\n%s", want, page)
		}
	}
	asked = false
	for what, w := range map[string]*httptest.ResponseRecorder{
		"a public address":                     ask(false, "127.0.0.1:54321", "/", "text/html"),
		"a name that resolves to this machine": ask(true, "evil.example", "/", "text/html"),
		"a program":                            ask(true, "127.0.0.1", "/", "*/*"),
	} {
		for _, secret := range private {
			if strings.Contains(w.Body.String(), secret) {
				t.Errorf("%s: %q is shown", what, secret)
			}
		}
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "/rest/v1") {
			t.Errorf("%s: %d\n%s", what, w.Code, w.Body)
		}
	}
	if asked {
		t.Error("the database was asked for a page that does not show its content")
	}
	if w := ask(true, "127.0.0.1", "/other", "text/html"); w.Code != http.StatusNotFound {
		t.Errorf("another path: %d", w.Code)
	}
}

// TestStartPagePolicy checks that the policy allows exactly the page's script.
func TestStartPagePolicy(t *testing.T) {
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1/", nil)
	r.Header.Set("Accept", "text/html")
	ServeStartPage(true, func(context.Context, bool) StartPage { return StartPage{} }).ServeHTTP(w, r)
	scripts := regexp.MustCompile(`(?s)<script>(.*?)</script>`).FindAllStringSubmatch(w.Body.String(), -1)
	if len(scripts) != 1 {
		t.Fatalf("%d scripts", len(scripts))
	}
	sum := sha256.Sum256([]byte(scripts[0][1]))
	policy := w.Header().Get("Content-Security-Policy")
	want := "script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	if !strings.Contains(policy, want) {
		t.Errorf("%q allows another script than %q", policy, want)
	}
	if !strings.HasPrefix(policy, "default-src 'none'") || strings.Contains(policy, "http") {
		t.Errorf("policy: %q", policy)
	}
}
