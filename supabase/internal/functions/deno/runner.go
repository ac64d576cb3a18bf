package deno

import (
	"errors"
	"net/http"
	"sync"

	"daawo/supabase/internal/functions/host"
)

// states are the files of functions at their last calls.
type states struct {
	mu   sync.Mutex
	last map[string]state
}

// changed reports whether the files of a function have changed since its last call.
func (s *states) changed(f Function, now state) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, known := s.last[f.Name]
	if s.last == nil {
		s.last = map[string]state{}
	}
	s.last[f.Name] = now
	return known && !equal(before, now)
}

// callRunner lets another runtime answer a call.
func (s *Service) callRunner(w http.ResponseWriter, r *http.Request, set *set, f Function) error {
	if err := f.check(); err != nil {
		return s.notStarted(w, r, f, &BootError{err})
	}
	if set.watch && s.seen.changed(f, f.stateOf(set.root)) {
		s.Runner.Restart()
	}
	err := s.Runner.Serve(w, r, f)
	var boot *BootError
	var missing MissingError
	switch {
	case err == nil || r.Context().Err() != nil:
		return err
	case errors.As(err, &boot), errors.As(err, &missing), errors.Is(err, errClosed):
		return s.notStarted(w, r, f, err)
	}
	s.Log.ErrorContext(r.Context(), "the runtime ended before its reply", "function", f.Name, "error", err)
	host.Fail(w, http.StatusInternalServerError, "WORKER_ERROR", errorMessage)
	return nil
}
