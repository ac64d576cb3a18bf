package session

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/auth/endpoint"
	"daawo/supabase/internal/auth/store"
	"daawo/supabase/internal/keys"
	"daawo/supabase/internal/wire"
)

// Reauthorize holds the caller and reads them and their session again: a change of the password that ended the session may
// have overtaken this request while it waited for its turn to hash.
func (m *Manager) Reauthorize(ctx context.Context, tx pgx.Tx, c *Caller) error {
	if err := store.ReloadUser(ctx, tx, c.User); errors.Is(err, store.ErrNotFound) {
		return errUserGone
	} else if err != nil {
		return err
	}
	if c.User.Banned(m.now()) {
		return wire.Errorf(http.StatusForbidden, "user_banned", "User is banned")
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

var bearerForm = regexp.MustCompile(`(?i)^bearer (\S+)$`)

// Caller is who sent a request with an access token.
type Caller struct {
	Claims  *keys.Claims
	User    *store.User
	Session *store.Session // nil for a token without session_id
}

var (
	errUserGone    = wire.Errorf(http.StatusForbidden, "user_not_found", "User from sub claim in JWT does not exist")
	ErrSessionGone = wire.Errorf(http.StatusForbidden, "session_not_found", "Session from session_id claim in JWT does not exist")
)

// bearer checks the access token of a request.
func (m *Manager) bearer(r *http.Request) (*keys.Claims, error) {
	match := bearerForm.FindStringSubmatch(r.Header.Get("Authorization"))
	if match == nil {
		return nil, wire.Errorf(http.StatusUnauthorized, "no_authorization", "This endpoint requires a valid Bearer token")
	}
	claims, err := m.verifier.Verify(match[1])
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

// Caller finds who sent the request.
func (m *Manager) Caller(r *http.Request) (*Caller, error) {
	claims, err := m.bearer(r)
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
	c := &Caller{Claims: claims}
	if c.User, c.Session, err = store.FindUserAndSession(r.Context(), m.db, id, session); err != nil {
		return nil, err
	}
	switch {
	case c.User == nil:
		return nil, errUserGone
	case session != uuid.Nil && c.Session == nil:
		return nil, ErrSessionGone
	case c.User.Banned(m.now()):
		return nil, wire.Errorf(http.StatusForbidden, "user_banned", "User is banned")
	case !m.meantForUs(claims, c.User):
		return nil, wire.Errorf(http.StatusForbidden, "bad_jwt", "invalid claim: token is for another audience")
	}
	return c, nil
}

// meantForUs says whether a token's audience is its user's, as it is in every access token that is made here. A hook may
// write another one on purpose, but no token without a role: that one is an ID token, and an application's to read.
func (m *Manager) meantForUs(claims *keys.Claims, u *store.User) bool {
	return len(claims.Audience) == 0 || slices.Contains(claims.Audience, u.Audience) || m.hooks.CustomAccessToken.Enabled() && claims.Role != ""
}

// CheckOwn refuses what only the user's own session may do: an application that somebody signed in to may read who they are,
// but neither change the account nor give itself more than it was granted.
func (c *Caller) CheckOwn() error {
	if c.Session != nil && c.Session.ClientID != nil {
		return wire.Errorf(http.StatusForbidden, "no_authorization", "This endpoint requires a session of the user's own")
	}
	return nil
}

// AsUser lets a handler run for the user of the access token, in a session of their own.
func (m *Manager) AsUser(h func(http.ResponseWriter, *http.Request, *Caller) error) endpoint.Handler {
	return m.AsBearer(func(w http.ResponseWriter, r *http.Request, c *Caller) error {
		if err := c.CheckOwn(); err != nil {
			return err
		}
		return h(w, r, c)
	})
}

// AsBearer lets a handler run for the user of the access token, whoever holds it.
func (m *Manager) AsBearer(h func(http.ResponseWriter, *http.Request, *Caller) error) endpoint.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		c, err := m.Caller(r)
		if err != nil {
			return err
		}
		return h(w, r, c)
	}
}

// IsAdmin reports whether the access token of a request has an administering role.
func (m *Manager) IsAdmin(r *http.Request) bool {
	claims, err := m.bearer(r)
	return err == nil && slices.Contains(m.config.AdminRoles, claims.Role)
}

// AsAdmin lets a handler run for a token of an administering role. Its actor in the audit log is the role.
func (m *Manager) AsAdmin(h func(http.ResponseWriter, *http.Request, *store.User) error) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		claims, err := m.bearer(r)
		if err != nil {
			return err
		}
		if claims.SessionID != "" && claims.SessionID != uuid.Nil.String() {
			// A person who administers may have signed out, or been shut out, since.
			c, err := m.Caller(r)
			if err != nil {
				return err
			}
			if err := c.CheckOwn(); err != nil {
				return err
			}
		}
		if !slices.Contains(m.config.AdminRoles, claims.Role) {
			return wire.Errorf(http.StatusForbidden, "not_admin", "User not allowed")
		}
		return h(w, r, &store.User{Role: claims.Role, Email: claims.Role})
	}
}

// Audience is whom the request is about: a header, the token's own, or the configured one.
func (m *Manager) Audience(r *http.Request, claims *keys.Claims) string {
	if aud := r.Header.Get("X-JWT-AUD"); aud != "" {
		return aud
	}
	if claims != nil && !slices.Contains(m.config.AdminRoles, claims.Role) && len(claims.Audience) > 0 && claims.Audience[0] != "" {
		return claims.Audience[0]
	}
	return m.config.Audience
}
