package gotrue

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestRemoteTemplates checks which templates replace the built-in ones: text of a usual size from a
// public address, or from a private one where that is allowed.
func TestRemoteTemplates(t *testing.T) {
	served := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/good":
			_, _ = io.WriteString(w, "<b>{{ .Token }}</b>")
		case "/large":
			_, _ = io.WriteString(w, strings.Repeat("x", 101))
		case "/binary":
			_, _ = io.WriteString(w, "\xff")
		default:
			http.NotFound(w, r)
		}
	}))
	defer served.Close()
	fetched := func(path, private string) (map[string]string, error) {
		e := &env{get: lookup(map[string]string{"GOTRUE_MAILER_TEMPLATES_INVITE": served.URL + path,
			"GOTRUE_MAILER_TEMPLATE_MAX_SIZE": "100", "GOTRUE_MAILER_TEMPLATE_ALLOW_PRIVATE": private}),
			asked: map[string]bool{}}
		out := map[string]string{}
		remote := e.remoteTemplates()
		return out, errors.Join(append(e.errs, remote.refresh(t.Context(), func(kind, body string) error {
			out[kind] = body
			return nil
		}))...)
	}
	if got, err := fetched("/good", "true"); err != nil || got["invite"] != "<b>{{ .Token }}</b>" {
		t.Errorf("%q, %v", got, err)
	}
	for path, reason := range map[string]string{"/large": "more than 100 bytes", "/binary": "UTF-8", "/none": "404"} {
		if got, err := fetched(path, "true"); err == nil || !strings.Contains(err.Error(), reason) || len(got) > 0 {
			t.Errorf("%s: %q, %v", path, got, err)
		}
	}
	if got, err := fetched("/good", ""); err == nil || !strings.Contains(err.Error(), "not a public one") || len(got) > 0 {
		t.Errorf("a private address: %q, %v", got, err)
	}
}

// TestKeepTemplates checks that templates are fetched again after a failure and when they are old,
// and that the last ones stay while the server fails.
func TestKeepTemplates(t *testing.T) {
	asked := make(chan struct{})
	served := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case asked <- struct{}{}:
		case <-r.Context().Done():
		}
		_, _ = io.WriteString(w, "text")
	}))
	defer served.Close()
	remote := remoteTemplates{urls: map[string]string{"invite": served.URL}, maxSize: 10, client: served.Client()}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		remote.keep(ctx, errors.New("down"), func(string, string) error { return nil },
			slog.New(slog.NewTextHandler(io.Discard, nil)))
	}()
	for range 2 {
		select {
		case <-asked:
		case <-time.After(20 * time.Second):
			t.Fatal("the template is not fetched")
		}
	}
	stop()
	<-ended
}

// TestForwardedFor checks that sb-forwarded-for names the client if it begins with an address.
func TestForwardedFor(t *testing.T) {
	for sent, want := range map[string]string{
		"203.0.113.9": "203.0.113.9", " 2001:db8::1 , 10.0.0.1": "2001:db8::1", "evil": "198.51.100.1",
		"": "198.51.100.1",
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		r.Header.Set("X-Forwarded-For", "198.51.100.1")
		r.Header.Set("X-Real-Ip", "198.51.100.1")
		r.Header.Set(forwardedFor, sent)
		withForwardedFor(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if got := r.Header.Get("X-Forwarded-For"); got != want || r.Header.Get("X-Real-Ip") != want {
				t.Errorf("%q: %s, limits %s", sent, got, r.Header.Get("X-Real-Ip"))
			}
		}), "X-Real-Ip").ServeHTTP(httptest.NewRecorder(), r)
	}
}
