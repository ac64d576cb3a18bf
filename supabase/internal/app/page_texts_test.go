package app

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"daawo/supabase/internal/app/installation"
)

// TestPageTextsOfAbortedReply checks that a function that aborts its reply ends no more than the
// question for texts: no HTTP server recovers there.
func TestPageTextsOfAbortedReply(t *testing.T) {
	s := &services{Installation: installation.New(installation.Options{PageTexts: "page-texts",
		Log: slog.New(slog.DiscardHandler)})}
	s.functions = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusOK)
		panic(http.ErrAbortHandler)
	})
	if texts, err := pageTexts(s)(t.Context(), []string{"key"}); err == nil || !strings.Contains(err.Error(), "aborted") {
		t.Errorf("%v, %v", texts, err)
	}
}
