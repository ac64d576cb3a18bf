package login

import (
	"net/http"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/engine/auth/endpoint"
	"daawo/supabase/internal/engine/auth/ratelimit"
)

// Token serves POST /token by its grant_type.
func (s *Service) Token(w http.ResponseWriter, r *http.Request) error {
	kind := r.FormValue("grant_type")
	var grant endpoint.Handler
	switch kind {
	case "password":
		grant = s.passwordGrant
	case "web3":
		grant = web3Grant
	default:
		if grant = s.Grants[kind]; grant == nil {
			return apierror.Errorf(http.StatusBadRequest, "invalid_credentials", "unsupported_grant_type")
		}
	}
	if kind == "password" || kind == "web3" {
		if err := s.Captcha.Check(r); err != nil {
			return err
		}
	}
	if err := s.Limiter.Limit(r, ratelimit.Token); err != nil {
		return err
	}
	return grant(w, r)
}

// web3Grant replies as GoTrue does when sign-in by a wallet is disabled.
func web3Grant(http.ResponseWriter, *http.Request) error {
	return apierror.Errorf(http.StatusUnprocessableEntity, "web3_provider_disabled", "Web3 provider is disabled")
}
