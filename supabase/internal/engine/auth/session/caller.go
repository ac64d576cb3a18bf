package session

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/base/keys"
	"daawo/supabase/internal/engine/auth/endpoint"
	"daawo/supabase/internal/engine/auth/store"
)

// Caller is the user who sent a request, with the access token.
type Caller struct {
	Claims  *keys.Claims
	User    *store.User
	Session *store.Session // nil for a token without session_id
}

var (
	errUserGone     = apierror.Errorf(http.StatusForbidden, "user_not_found", "User from sub claim in JWT does not exist")
	errBannedCaller = apierror.Errorf(http.StatusForbidden, "user_banned", "User is banned")
	// ErrSessionGone is the reply if the session of the access token has ended.
	ErrSessionGone = apierror.Errorf(http.StatusForbidden, "session_not_found",
		"Session from session_id claim in JWT does not exist")
)

// bearer returns the claims of the access token of a request.
func (m *Manager) bearer(r *http.Request) (*keys.Claims, error) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "bearer") || token == "" || strings.ContainsAny(token, " \t") {
		return nil, apierror.Errorf(http.StatusUnauthorized, "no_authorization",
			"This endpoint requires a valid Bearer token")
	}
	claims, err := m.verifier.Verify(token)
	if err != nil {
		return nil, apierror.Errorf(http.StatusForbidden, "bad_jwt",
			"invalid JWT: unable to parse or verify signature, %s", reason(err))
	}
	return claims, nil
}

// reason returns golang-jwt's words for what is wrong with a token, because clients show them.
func reason(err error) string {
	var algorithm *keys.AlgorithmError
	switch {
	case errors.As(err, &algorithm):
		return "token signature is invalid: signing method " + algorithm.Algorithm + " is invalid"
	case errors.Is(err, keys.ErrExpired):
		return "token has invalid claims: token is expired"
	case errors.Is(err, keys.ErrNotYet):
		return "token has invalid claims: token is not valid yet"
	case errors.Is(err, keys.ErrSignature):
		return "token signature is invalid: signature is invalid"
	case errors.Is(err, keys.ErrMalformed):
		return strings.TrimPrefix(err.Error(), keys.ErrMalformed.Error()+": ")
	}
	return "token is unverifiable: error while executing keyfunc: unrecognized JWT kid or algorithm"
}

// Caller authenticates a request by its access token.
func (m *Manager) Caller(r *http.Request) (*Caller, error) {
	claims, err := m.bearer(r)
	if err != nil {
		return nil, err
	}
	if claims.Subject == "" {
		return nil, apierror.Errorf(http.StatusForbidden, "bad_jwt", "invalid claim: missing sub claim")
	}
	id, err := uuid.Parse(claims.Subject)
	if err != nil {
		return nil, apierror.Errorf(http.StatusBadRequest, "bad_jwt", "invalid claim: sub claim must be a UUID")
	}
	session := uuid.Nil
	if claims.SessionID != "" {
		if session, err = uuid.Parse(claims.SessionID); err != nil {
			return nil, apierror.Errorf(http.StatusForbidden, "bad_jwt",
				"invalid claim: session_id claim must be a UUID")
		}
	}
	c := &Caller{Claims: claims}
	if c.User, c.Session, err = store.FindUserAndSession(r.Context(), m.DB.Pgx(), id, session); err != nil {
		return nil, err
	}
	switch {
	case c.User == nil:
		return nil, errUserGone
	case session != uuid.Nil && c.Session == nil:
		return nil, ErrSessionGone
	case c.User.Banned(m.Now()):
		return nil, errBannedCaller
	case !m.validAudience(claims, c.User):
		return nil, apierror.Errorf(http.StatusForbidden, "bad_jwt", "invalid claim: token is for another audience")
	}
	return c, nil
}

// validAudience reports whether the token's audience is its user's, as in every access token that
// is issued here. A hook may write another audience. A token with another audience and without a
// role is an ID token, which only applications read.
func (m *Manager) validAudience(claims *keys.Claims, u *store.User) bool {
	return len(claims.Audience) == 0 || slices.Contains(claims.Audience, u.Audience) ||
		m.Hooks.CustomAccessToken.Enabled() && claims.Role != ""
}

// CheckOwn returns an error if an application holds the session. An application may read who the
// user is, but neither change the account nor extend its own grant.
func (c *Caller) CheckOwn() error {
	if c.Session != nil && c.Session.ClientID != nil {
		return apierror.Errorf(http.StatusForbidden, "no_authorization",
			"This endpoint requires a session of the user's own")
	}
	return nil
}

// CheckFactor returns an error if the user has a second factor that the session has not used.
func (c *Caller) CheckFactor() error {
	if c.User.HasVerifiedFactor() && (c.Session == nil || c.Session.AAL != "aal2") {
		return apierror.Errorf(http.StatusForbidden, "insufficient_aal",
			"AAL2 session is required to link or unlink identities when MFA is enabled")
	}
	return nil
}

// Reauthorize locks and rereads the user and the session of the caller. A password change may have
// ended the session while the request waited, for example for the hashing of a password.
func (m *Manager) Reauthorize(ctx context.Context, tx pgx.Tx, c *Caller) error {
	if err := store.ReloadUser(ctx, tx, c.User); errors.Is(err, store.ErrNotFound) {
		return errUserGone
	} else if err != nil {
		return err
	}
	if c.User.Banned(m.Now()) {
		return errBannedCaller
	}
	if c.Session == nil {
		return nil
	}
	fresh, err := store.FindSession(ctx, tx, c.Session.ID)
	if errors.Is(err, store.ErrNotFound) {
		return ErrSessionGone
	}
	if err != nil {
		return err
	}
	c.Session = fresh
	return nil
}

// AsUser calls h for the user of the access token, if the session is the user's own.
func (m *Manager) AsUser(h func(http.ResponseWriter, *http.Request, *Caller) error) endpoint.Handler {
	return m.AsBearer(func(w http.ResponseWriter, r *http.Request, c *Caller) error {
		if err := c.CheckOwn(); err != nil {
			return err
		}
		return h(w, r, c)
	})
}

// AsBearer calls h for the user of the access token, also if an application holds the session.
func (m *Manager) AsBearer(h func(http.ResponseWriter, *http.Request, *Caller) error) endpoint.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		c, err := m.Caller(r)
		if err != nil {
			return err
		}
		return h(w, r, c)
	}
}

// IsAdmin reports whether the access token of a request has one of the administrators' roles.
func (m *Manager) IsAdmin(r *http.Request) bool {
	claims, err := m.bearer(r)
	return err == nil && slices.Contains(m.Config.AdminRoles, claims.Role)
}

// AsAdmin calls h if the access token has one of the administrators' roles. actor, the account in
// the audit log, is named after the role.
func (m *Manager) AsAdmin(h func(http.ResponseWriter, *http.Request, *store.User) error) func(http.ResponseWriter,
	*http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		claims, err := m.bearer(r)
		if err != nil {
			return err
		}
		admin := slices.Contains(m.Config.AdminRoles, claims.Role)
		if claims.SessionID != "" && claims.SessionID != uuid.Nil.String() {
			// The session of an administrator may have ended since the token was issued.
			c, err := m.Caller(r)
			if err == nil && admin {
				err = c.CheckOwn()
			}
			if err != nil && (admin || !errors.Is(err, errBannedCaller)) {
				return err
			}
		}
		if !admin {
			return apierror.Errorf(http.StatusForbidden, "not_admin", "User not allowed")
		}
		return h(w, r, &store.User{Role: claims.Role, Email: claims.Role})
	}
}

// Audience returns the audience of a request, from the header, the token or the configuration.
func (m *Manager) Audience(r *http.Request, claims *keys.Claims) string {
	if aud := r.Header.Get("X-JWT-AUD"); aud != "" {
		return aud
	}
	if claims != nil && !slices.Contains(m.Config.AdminRoles, claims.Role) && len(claims.Audience) > 0 &&
		claims.Audience[0] != "" {
		return claims.Audience[0]
	}
	return m.Config.Audience
}
