package auth

import (
	"errors"
	"net/http"
	"regexp"
	"slices"

	"github.com/google/uuid"

	"daawo/supabase/internal/db"
	"daawo/supabase/internal/keys"
	"daawo/supabase/internal/wire"

	"github.com/jackc/pgx/v5"
)

var bearerForm = regexp.MustCompile(`(?i)^bearer (\S+)$`)

// caller is who sent a request with an access token.
type caller struct {
	claims  *keys.Claims
	user    *User
	session *Session // nil for a token without session_id
}

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

// asUser lets a handler run for the user of the access token.
func (e *Engine) asUser(h func(http.ResponseWriter, *http.Request, *caller) error) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		claims, err := e.bearer(r)
		if err != nil {
			return err
		}
		if claims.Subject == "" {
			return wire.Errorf(http.StatusForbidden, "bad_jwt", "invalid claim: missing sub claim")
		}
		id, err := uuid.Parse(claims.Subject)
		if err != nil {
			return wire.Errorf(http.StatusBadRequest, "bad_jwt", "invalid claim: sub claim must be a UUID")
		}
		c := &caller{claims: claims}
		err = e.db.Tx(r.Context(), db.Caller{}, pgx.TxOptions{AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
			if c.user, err = userByID(r.Context(), tx, id); errors.Is(err, errNotFound) {
				return wire.Errorf(http.StatusForbidden, "user_not_found", "User from sub claim in JWT does not exist")
			} else if err != nil {
				return err
			}
			if claims.SessionID == "" || claims.SessionID == uuid.Nil.String() {
				return nil
			}
			session, err := uuid.Parse(claims.SessionID)
			if err != nil {
				return wire.Errorf(http.StatusForbidden, "bad_jwt", "invalid claim: session_id claim must be a UUID")
			}
			if c.session, err = findSession(r.Context(), tx, session); errors.Is(err, errNotFound) {
				return wire.Errorf(http.StatusForbidden, "session_not_found", "Session from session_id claim in JWT does not exist")
			}
			return err
		})
		if err != nil {
			return err
		}
		if c.user.banned(e.now()) {
			return wire.Errorf(http.StatusForbidden, "user_banned", "User is banned")
		}
		return h(w, r, c)
	}
}

// asAdmin lets a handler run for a token of an administering role. Its actor in the audit log is the role.
func (e *Engine) asAdmin(h func(http.ResponseWriter, *http.Request, *User) error) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		claims, err := e.bearer(r)
		if err != nil {
			return err
		}
		if !slices.Contains(e.config.AdminRoles, claims.Role) {
			return wire.Errorf(http.StatusForbidden, "not_admin", "User not allowed")
		}
		return h(w, r, &User{Role: claims.Role, Email: claims.Role})
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
