package auth

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"daawo/supabase/internal/engine/auth/password"
)

// TestLateHash checks that a request which the queue of hashes refuses gets the reply of one that
// timed out, although its time has not ended.
func TestLateHash(t *testing.T) {
	h := &Handler{timeout: time.Minute, log: slog.New(slog.DiscardHandler)}
	w := httptest.NewRecorder()
	h.handle(func(http.ResponseWriter, *http.Request) error {
		return fmt.Errorf("hash: %w", password.ErrTooLate)
	})(w, httptest.NewRequest("POST", "/token", nil))
	if w.Code != http.StatusGatewayTimeout || w.Header().Get("Retry-After") != "1" {
		t.Errorf("%d %v %s, want 504 and Retry-After", w.Code, w.Header(), w.Body)
	}
}
