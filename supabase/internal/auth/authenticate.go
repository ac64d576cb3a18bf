package auth

import (
	"errors"
	"net/http"
	"regexp"
	"slices"

	"github.com/google/uuid"

	"daawo/supabase/internal/auth/endpoint"
	"daawo/supabase/internal/auth/store"
	"daawo/supabase/internal/keys"
	"daawo/supabase/internal/wire"
)

var bearerForm = regexp.MustCompile(`(?i)^bearer (\S+)$`)

// caller is who sent a request with an access token.
type caller struct {
	claims  *keys.Claims
	user    *store.User
	session *store.Session // nil for a token without session_id
}

var (
	errUserGone    = wire.Errorf(http.StatusForbidden, "user_not_found", "User from sub claim in JWT does not exist")
	errSessionGone = wire.Errorf(http.StatusForbidden, "session_not_found", "Session from session_id claim in JWT does not exist")
)

// bearer checks the access token of a request.
func (e *Engine) bearer(r *http.Request) (*keys.Claims, error) {
	match := bearerForm.FindStringSubmatch(r.Header.Get("Authorization"))
	if match == nil {
		return nil, wire.Errorf(http.StatusUnauthorized, "no_authorization", "This endpoint requires a valid Bearer token")
	}
	claims, err := e.verifier.Verify(match[1])
	if err != nil {
		return nil, wire.Errorf(http.StatusForbidden, "bad_jwt", "invalid JWT: unable to parse or verify signature, %s", reason(err))
	}
	return claims, nil
}

// reason words what is wrong with a token as golang-jwt does: clients show it.
func reason(err error) string {
	switch {
	case errors.Is(err, keys.ErrExpired):
		return "token has invalid claims: token is expired"
	case errors.Is(err, keys.ErrNotYet):
		return "token has invalid claims: token is not valid yet"
	case errors.Is(err, keys.ErrSignature):
		return "token signature is invalid: signature is invalid"
	case errors.Is(err, keys.ErrMalformed):
		return "token is malformed: token contains an invalid number of segments"
	}
	return "token is unverifiable: error while executing keyfunc: unrecognized JWT kid or algorithm"
}

// caller finds who sent the request.
func (e *Engine) caller(r *http.Request) (*caller, error) {
	claims, err := e.bearer(r)
	if err != nil {
		return nil, err
	}
	if claims.Subject == "" {
		return nil, wire.Errorf(http.StatusForbidden, "bad_jwt", "invalid claim: missing sub claim")
	}
	id, err := uuid.Parse(claims.Subject)
	if err != nil {
		return nil, wire.Errorf(http.StatusBadRequest, "bad_jwt", "invalid claim: sub claim must be a UUID")
	}
	session := uuid.Nil
	if claims.SessionID != "" {
		if session, err = uuid.Parse(claims.SessionID); err != nil {
			return nil, wire.Errorf(http.StatusForbidden, "bad_jwt", "invalid claim: session_id claim must be a UUID")
		}
	}
	c := &caller{claims: claims}
	if c.user, c.session, err = store.FindUserAndSession(r.Context(), e.db, id, session); err != nil {
		return nil, err
	}
	switch {
	case c.user == nil:
		return nil, errUserGone
	case session != uuid.Nil && c.session == nil:
		return nil, errSessionGone
	case c.user.Banned(e.now()):
		return nil, wire.Errorf(http.StatusForbidden, "user_banned", "User is banned")
	case !e.meantForUs(claims, c.user):
		return nil, wire.Errorf(http.StatusForbidden, "bad_jwt", "invalid claim: token is for another audience")
	}
	return c, nil
}

// meantForUs says whether a token's audience is its user's, as it is in every access token that is made here. A hook may
// write another one on purpose, but no token without a role: that one is an ID token, and an application's to read.
func (e *Engine) meantForUs(claims *keys.Claims, u *store.User) bool {
	return len(claims.Audience) == 0 || slices.Contains(claims.Audience, u.Audience) || e.hooks.CustomAccessToken.Enabled() && claims.Role != ""
}

// own refuses what only the user's own session may do: an application that somebody signed in to may read who they are,
// but neither change the account nor give itself more than it was granted.
func (c *caller) own() error {
	if c.session != nil && c.session.ClientID != nil {
		return wire.Errorf(http.StatusForbidden, "no_authorization", "This endpoint requires a session of the user's own")
	}
	return nil
}

// asUser lets a handler run for the user of the access token, in a session of their own.
func (e *Engine) asUser(h func(http.ResponseWriter, *http.Request, *caller) error) endpoint.Handler {
	return e.asBearer(func(w http.ResponseWriter, r *http.Request, c *caller) error {
		if err := c.own(); err != nil {
			return err
		}
		return h(w, r, c)
	})
}

// asBearer lets a handler run for the user of the access token, whoever holds it.
func (e *Engine) asBearer(h func(http.ResponseWriter, *http.Request, *caller) error) endpoint.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		c, err := e.caller(r)
		if err != nil {
			return err
		}
		return h(w, r, c)
	}
}

// isAdmin reports whether the access token of a request has an administering role.
func (e *Engine) isAdmin(r *http.Request) bool {
	claims, err := e.bearer(r)
	return err == nil && slices.Contains(e.config.AdminRoles, claims.Role)
}

// asAdmin lets a handler run for a token of an administering role. Its actor in the audit log is the role.
func (e *Engine) asAdmin(h func(http.ResponseWriter, *http.Request, *store.User) error) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		claims, err := e.bearer(r)
		if err != nil {
			return err
		}
		if claims.SessionID != "" && claims.SessionID != uuid.Nil.String() {
			// A person who administers may have signed out, or been shut out, since.
			c, err := e.caller(r)
			if err != nil {
				return err
			}
			if err := c.own(); err != nil {
				return err
			}
		}
		if !slices.Contains(e.config.AdminRoles, claims.Role) {
			return wire.Errorf(http.StatusForbidden, "not_admin", "User not allowed")
		}
		return h(w, r, &store.User{Role: claims.Role, Email: claims.Role})
	}
}

// audience is whom the request is about: a header, the token's own, or the configured one.
func (e *Engine) audience(r *http.Request, claims *keys.Claims) string {
	if aud := r.Header.Get("X-JWT-AUD"); aud != "" {
		return aud
	}
	if claims != nil && !slices.Contains(e.config.AdminRoles, claims.Role) && len(claims.Audience) > 0 && claims.Audience[0] != "" {
		return claims.Audience[0]
	}
	return e.config.Audience
}
