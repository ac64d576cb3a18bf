package login

import (
	"context"
	"net/http"
	"time"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/engine/auth/endpoint"
)

// replyStep is the unit of the time of a reply that must not tell whether there is an account. It
// is longer than the work takes for a known address.
const replyStep = 300 * time.Millisecond

// mailAlike counts a request for a mail to an address, runs it and replies. With
// Config.HideAccounts, known and unknown addresses get the same reply in the same time: refusals of
// the request go to the log, and the time is a multiple of replyStep.
func (s *Service) mailAlike(w http.ResponseWriter, r *http.Request, address string, request func() error) error {
	if err := s.Limiter.LimitMail(r, address); err != nil {
		return err
	}
	begun := time.Now()
	err := request()
	if s.Config.HideAccounts {
		if refusal, ok := apierror.AsError(err); ok && refusal.Status < http.StatusInternalServerError {
			s.Log.InfoContext(r.Context(), "no mail sent", "reason", refusal.Code)
			err = nil
		}
		s.awaitStep(r.Context(), begun)
	}
	if err != nil {
		return err
	}
	return endpoint.SendJSON(w, http.StatusOK, struct{}{})
}

// awaitStep waits, with Config.HideAccounts, until a multiple of replyStep has passed since begun.
// Requests for known and unknown contacts do equal work; this hides what is left, such as the calls
// of hooks.
func (s *Service) awaitStep(ctx context.Context, begun time.Time) {
	if !s.Config.HideAccounts {
		return
	}
	took := time.Since(begun)
	select {
	case <-time.After(replyStep - took%replyStep):
	case <-ctx.Done():
	}
}
