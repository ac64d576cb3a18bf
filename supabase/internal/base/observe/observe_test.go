package observe

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestLogHasRequestID(t *testing.T) {
	var out bytes.Buffer
	log := Logger(&out, "info", "json").With("a", 1)
	log.InfoContext(WithRequestID(t.Context(), "r-1"), "hello")
	log.DebugContext(t.Context(), "debug line")
	if got := out.String(); !strings.Contains(got, `"request_id":"r-1"`) || strings.Contains(got, "debug line") {
		t.Error(got)
	}
}

// TestLogDurations checks that durations are numbers of seconds in both formats, whatever their
// kind, and that other values stay.
func TestLogDurations(t *testing.T) {
	log := func(format string) string {
		var out bytes.Buffer
		Logger(&out, "info", format).With("limit", 90*time.Second).Info("done", "duration", 1500*time.Microsecond,
			"sleep_duration", "1m30.5s", "text", "2s", "duration_of", "soon",
			slog.Group("g", "took", 333333333*time.Nanosecond), "n", 7)
		return out.String()
	}
	if got := log("json"); !strings.Contains(got,
		`"limit":90,"duration":0.0015,"sleep_duration":90.5,"text":"2s","duration_of":"soon","g":{"took":0.333333},"n":7`) {
		t.Error(got)
	}
	if got := log("text"); !strings.Contains(got,
		`limit=90 duration=0.0015 sleep_duration=90.5 text=2s duration_of=soon g.took=0.333333 n=7`) {
		t.Error(got)
	}
}

func TestReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ok := func(context.Context) error { return nil }
		down := func(context.Context) error { return errors.New("dial /run/secret/path: refused") }
		slow := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
		for _, tt := range []struct {
			checks map[string]Check
			status int
			body   string
		}{
			{map[string]Check{"database": ok}, 200, `"database":"ok"`},
			{map[string]Check{"database": down, "schema": ok}, 503, `"database":"failing"`},
			{map[string]Check{"database": slow}, 503, `"database":"failing"`},
		} {
			w := httptest.NewRecorder()
			Ready(tt.checks).ServeHTTP(w, httptest.NewRequest("GET", "/readyz", nil))
			if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.body) ||
				strings.Contains(w.Body.String(), "secret") {
				t.Errorf("%d %s", w.Code, w.Body)
			}
			if (w.Code == 503) != (w.Header().Get("Retry-After") != "") {
				t.Error("want Retry-After with 503 only")
			}
		}
	})
}

func TestMetricsAccess(t *testing.T) {
	m := NewMetrics()
	m.Begin("rest", "BREW")(418)
	tests := []struct {
		name, token, addr, authorization, forwarded string
		status                                      int
	}{
		{"localhost", "", "127.0.0.1:9", "", "", 200},
		{"another name of this machine", "", "127.0.0.1:9", "", "", 404},
		{"another name with the token", "t", "127.0.0.1:9", "Bearer t", "", 200},
		{"loopback", "", "127.0.0.1:9", "", "", 200},
		{"loopback v6", "", "[::1]:9", "", "", 200},
		{"other client", "", "192.0.2.1:9", "", "", 404},
		{"other client behind a local proxy", "", "127.0.0.1:9", "", "192.0.2.1", 404},
		{"token", "t", "192.0.2.1:9", "Bearer t", "", 200},
		{"wrong token", "t", "192.0.2.1:9", "Bearer x", "", 404},
		{"loopback without the configured token", "t", "127.0.0.1:9", "", "", 404},
		{"empty bearer", "", "192.0.2.1:9", "Bearer ", "", 404},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
			r.RemoteAddr, r.Host = tt.addr, "127.0.0.1:54321"
			switch {
			case tt.name == "localhost":
				r.Host = "localhost:54321"
			case tt.name == "loopback v6":
				r.Host = "[::1]:54321"
			case strings.HasPrefix(tt.name, "another name"):
				r.Host = "rebound.example.org:54321"
			}
			r.Header.Set("Authorization", tt.authorization)
			if tt.forwarded != "" {
				r.Header.Set("X-Forwarded-For", tt.forwarded)
			}
			w := httptest.NewRecorder()
			m.Handler(tt.token).ServeHTTP(w, r)
			if w.Code != tt.status {
				t.Errorf("status %d, want %d", w.Code, tt.status)
			}
			if shown := strings.Contains(w.Body.String(),
				`method="other",service="rest",status="418"`); shown != (tt.status == 200) {
				t.Errorf("metrics shown: %v", shown)
			}
		})
	}
}
