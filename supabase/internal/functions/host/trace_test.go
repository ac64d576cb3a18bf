package host

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"daawo/supabase/edge"
	"daawo/supabase/edge/supabaseclient"
)

// TestTracePropagation checks that a valid traceparent of a call is sent with the function's
// requests to the stack and is in the log line of the call. An invalid one is dropped.
func TestTracePropagation(t *testing.T) {
	var mu sync.Mutex
	seen := map[string]string{}
	stack := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		seen[r.Method+" "+r.URL.Path] = r.Header.Get("Traceparent")
		_, _ = w.Write([]byte("[]"))
	}))
	defer stack.Close()
	var log strings.Builder
	h := hosting(t, map[string]edge.Func{"asks": {NoVerifyJWT: true,
		Handler: func(_ http.ResponseWriter, r *http.Request, env *edge.Env) error {
			c, err := supabaseclient.New(r.Context(), env, env.Caller)
			if err != nil {
				return err
			}
			if _, _, err := c.From("notes").Select("*", "", false).Execute(); err != nil {
				return err
			}
			if err := env.Upload(r.Context(), "b", "n", "text/plain", []byte("x")); err != nil {
				return err
			}
			return env.Remove(r.Context(), "b", []string{"n"})
		}}}, func(o *Options) {
		o.Getenv = func(name string) string {
			return map[string]string{"SUPABASE_URL": stack.URL, "SUPABASE_ANON_KEY": "k"}[name]
		}
		o.Log = slog.New(slog.NewTextHandler(locked{new(sync.Mutex), &log}, nil))
	})
	const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	for given, want := range map[string]string{"00-" + trace + "-00f067aa0ba902b7-01": "00-" + trace +
		"-00f067aa0ba902b7-01", "nonsense": "", "": ""} {
		if w := serve(h, "POST", "/asks", map[string]string{"Traceparent": given}); w.Code != http.StatusOK {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		for _, request := range []string{"GET /rest/v1/notes", "POST /storage/v1/object/b/n",
			"DELETE /storage/v1/object/b"} {
			if got, ok := seen[request]; !ok || got != want {
				t.Errorf("%s: traceparent %q, of the call %q", request, got, given)
			}
		}
	}
	if n := strings.Count(log.String(), "trace="+trace); n != 1 {
		t.Errorf("%d log lines contain the trace:\n%s", n, &log)
	}
}
