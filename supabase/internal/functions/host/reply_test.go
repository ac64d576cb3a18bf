package host

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"daawo/supabase/edge"
)

// TestPartialReply checks that a function which fails after a part of its reply aborts the
// connection, so that the client does not take the part for the whole, and that the call is counted
// as 500.
func TestPartialReply(t *testing.T) {
	half := func(w http.ResponseWriter) {
		_, _ = io.WriteString(w, `{"half":`)
		_ = http.NewResponseController(w).Flush()
	}
	calls := &counted{}
	h := hosting(t, map[string]edge.Func{
		"fails": {NoVerifyJWT: true, Handler: func(w http.ResponseWriter, _ *http.Request,
			_ *edge.Env) error {
			half(w)
			return errors.New("x")
		}},
		"panics": {NoVerifyJWT: true,
			Handler: func(w http.ResponseWriter, _ *http.Request, _ *edge.Env) error { half(w); panic("x") }},
		"aborts": {NoVerifyJWT: true,
			Handler: func(http.ResponseWriter, *http.Request, *edge.Env) error { panic(http.ErrAbortHandler) }},
		"whole": {NoVerifyJWT: true,
			Handler: func(w http.ResponseWriter, _ *http.Request, _ *edge.Env) error { half(w); return nil }},
	}, func(o *Options) { o.Meter = calls })
	server := httptest.NewServer(h)
	defer server.Close()
	for name, whole := range map[string]bool{"fails": false, "panics": false, "aborts": false, "whole": true} {
		res, err := http.Get(server.URL + "/" + name)
		if err == nil {
			_, err = io.ReadAll(res.Body)
			res.Body.Close()
		}
		if (err == nil) != whole {
			t.Errorf("%s: the client gets %v", name, err)
		}
	}
	for function, status := range map[string]int{"fails": 500, "panics": 500, "aborts": 500, "whole": 200} {
		if !calls.has(function, status) {
			t.Errorf("%s is not counted with status %d: %v", function, status, calls.calls)
		}
	}
}

// counted is a Meter that keeps calls.
type counted struct {
	noMeter
	mu    sync.Mutex
	calls []string
}

func (c *counted) Called(function string, status int, _ time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls = append(c.calls, fmt.Sprint(function, " ", status))
}

func (c *counted) has(function string, status int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Contains(c.calls, fmt.Sprint(function, " ", status))
}
