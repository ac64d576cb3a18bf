package external

import (
	"errors"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/engine/auth/endpoint"
	"daawo/supabase/internal/engine/auth/session"
	"daawo/supabase/internal/engine/auth/store"
)

// PKCEGrant serves POST /token?grant_type=pkce: it exchanges a code and its verifier for tokens.
func (s *Service) PKCEGrant(w http.ResponseWriter, r *http.Request) error {
	var p struct {
		Code     string `json:"auth_code"`
		Verifier string `json:"code_verifier"`
	}
	if err := endpoint.ReadJSON(r, &p); err != nil {
		return err
	}
	if p.Code == "" || p.Verifier == "" {
		return apierror.Errorf(http.StatusBadRequest, "validation_failed",
			"invalid request: both auth code and code verifier should be non-empty")
	}
	ctx := r.Context()
	reply, err := store.InTx(ctx, s.DB, func(tx pgx.Tx) (*session.TokenReply, error) {
		f, u, err := store.LockFlowByCode(ctx, tx, p.Code)
		if errors.Is(err, store.ErrNotFound) {
			return nil, apierror.Errorf(http.StatusNotFound, "flow_state_not_found",
				"invalid flow state, no valid flow state found")
		}
		if err != nil {
			return nil, err
		}
		if f.Expired(s.Config.FlowExpiry, s.Now()) {
			return nil, apierror.Errorf(http.StatusUnprocessableEntity, "flow_state_expired",
				"invalid flow state, flow state has expired")
		}
		if !f.Verifies(p.Verifier) {
			return nil, apierror.Errorf(http.StatusBadRequest, "bad_code_verifier",
				"code challenge does not match previously saved code verifier")
		}
		if u.Banned(s.Now()) {
			return nil, session.ErrBanned
		}
		if err := s.Store.Audit(ctx, tx, u, "login", map[string]any{"provider_type": f.Provider}); err != nil {
			return nil, err
		}
		var end *time.Time
		if f.Method == store.MethodSAML {
			if end, err = store.SessionEnd(ctx, tx, f.ID); err != nil {
				return nil, err
			}
		}
		reply, err := s.Sessions.Begin(r, tx, w.Header(), u, f.Method, store.Application{}, end)
		if err != nil {
			return nil, err
		}
		reply.ProviderToken, reply.ProviderRefreshToken = f.AccessToken, f.RefreshToken
		_, err = tx.Exec(ctx, `delete from auth.flow_state where id = $1`, f.ID)
		return reply, err
	})
	if err != nil {
		return err
	}
	return endpoint.SendJSON(w, http.StatusOK, reply)
}
