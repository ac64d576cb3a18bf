package session

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/engine/auth/endpoint"
	"daawo/supabase/internal/engine/auth/store"
)

// OAuthError returns an error in the form of RFC 6749, section 5.2.
func OAuthError(code, format string, args ...any) error {
	err := apierror.Errorf(http.StatusBadRequest, code, format, args...)
	err.Details = endpoint.OAuthFormat{}
	return err
}

// checkHolder returns an error unless holder, an application or nil for the user, holds the
// session.
func checkHolder(s *store.Session, holder *uuid.UUID) error {
	switch {
	case s.ClientID == nil && holder == nil, s.ClientID != nil && holder != nil && *s.ClientID == *holder:
		return nil
	case holder == nil:
		return OAuthError("invalid_client", "Client authentication required for OAuth session")
	case s.ClientID == nil:
		return OAuthError("invalid_client", "Client authentication not allowed for non-OAuth session")
	}
	return OAuthError("invalid_client", "Client does not match the session's OAuth client")
}

var errAlreadyUsed = apierror.Errorf(http.StatusBadRequest, "refresh_token_already_used",
	"Invalid Refresh Token: Already Used")

// RefreshGrant serves POST /token?grant_type=refresh_token.
func (m *Manager) RefreshGrant(w http.ResponseWriter, r *http.Request) error {
	var p struct {
		RefreshToken string `json:"refresh_token"`
	}
	if err := endpoint.ReadJSON(r, &p); err != nil {
		return err
	}
	reply, err := m.Refresh(r, w.Header(), p.RefreshToken, nil)
	if err != nil {
		return err
	}
	return endpoint.SendJSON(w, http.StatusOK, reply)
}

// Refresh exchanges a refresh token for new tokens. holder is the application that holds the
// session; nil for the user's own session.
func (m *Manager) Refresh(r *http.Request, headers http.Header, text string, holder *uuid.UUID) (*TokenReply, error) {
	legacy := isLegacyToken(text)
	var signed signedToken
	if !legacy {
		var err error
		if signed, err = parseSignedToken(text); err != nil {
			return nil, apierror.Errorf(http.StatusBadRequest, "validation_failed", "Refresh token is not valid")
		}
	}
	return store.InTx(r.Context(), m.DB, func(tx pgx.Tx) (*TokenReply, error) {
		if legacy {
			return m.refreshLegacy(r, tx, headers, text, holder)
		}
		return m.refreshSigned(r, tx, headers, signed, holder)
	})
}

var errUnknownToken = apierror.Errorf(http.StatusBadRequest, "refresh_token_not_found",
	"Invalid Refresh Token: Refresh Token Not Found")

// refreshable returns the session and its user, or an error if the session cannot be refreshed.
// Headers and errors tell about the session, so authentic first checks that the client holds a
// token of it.
func (m *Manager) refreshable(ctx context.Context, tx pgx.Tx, headers http.Header, session uuid.UUID,
	authentic func(*store.SessionState) error, tokenTime time.Time, holder *uuid.UUID) (*store.User,
	*store.SessionState, error) {
	s, u, err := store.FindSessionStateAndUser(ctx, tx, session)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil, errUnknownToken
	}
	if err == nil {
		err = authentic(s)
	}
	if err != nil {
		return nil, nil, err
	}
	headers.Set("sb-auth-user-id", u.ID.String())
	if u.Banned(m.Now()) {
		return nil, nil, apierror.Errorf(http.StatusBadRequest, "user_banned", "Invalid Refresh Token: User Banned")
	}
	headers.Set("sb-auth-session-id", s.ID.String())
	if why := m.expired(s.Session, u, tokenTime); why != "" {
		return nil, nil, apierror.Errorf(http.StatusBadRequest, "session_expired", "%s", why)
	}
	if err := checkHolder(s.Session, holder); err != nil {
		return nil, nil, err
	}
	if m.Config.SinglePerUser {
		others, err := store.OtherSessions(ctx, tx, s.Session)
		if err != nil {
			return nil, nil, err
		}
		for _, o := range others {
			// A password alone does not end a session with a second factor.
			if o.AAL >= s.AAL && m.Config.tag(o) == m.Config.tag(s.Session) &&
				o.LastUsed(time.Time{}).After(s.LastUsed(tokenTime)) &&
				m.expired(o, u, time.Time{}) == "" {
				return nil, nil, apierror.Errorf(http.StatusBadRequest, "session_expired",
					"Invalid Refresh Token: Session Expired (Revoked by Newer Login)")
			}
		}
	}
	return u, s, nil
}

// refreshed adds to writes one that stores when and by which client the session was refreshed,
// sends them in one round trip, and issues the access token.
func (m *Manager) refreshed(r *http.Request, tx pgx.Tx, writes *pgx.Batch, u *store.User, s *store.SessionState,
	token string) (*TokenReply, error) {
	c := endpoint.ClientOf(r)
	writes.Queue(`
		update auth.sessions
		   set refreshed_at = $2 at time zone 'utc', updated_at = $2, user_agent = nullif($3, ''),
		       ip = nullif($4, '')::inet
		 where id = $1`,
		s.ID, m.Now(), c.UserAgent, c.Address)
	if err := tx.SendBatch(r.Context(), writes).Close(); err != nil {
		return nil, err
	}
	return m.sign(r, tx, u, s, token, "token_refresh")
}

// tag returns the tag of a session: its own if the configuration has it, else the first.
func (c Config) tag(s *store.Session) string {
	switch tags := c.Tags; {
	case len(tags) == 0:
		return ""
	case slices.Contains(tags, s.Tag):
		return s.Tag
	default:
		return tags[0]
	}
}

// expired returns why the session cannot be refreshed any more; "" if it can.
func (m *Manager) expired(s *store.Session, u *store.User, tokenTime time.Time) string {
	c, now := m.Config, m.Now()
	switch {
	case s.NotAfter != nil && now.After(*s.NotAfter), c.Timebox > 0 && now.After(s.CreatedAt.Add(c.Timebox)):
		return "Invalid Refresh Token: Session Expired"
	case c.Inactivity > 0 && now.After(s.LastUsed(tokenTime).Add(c.Inactivity)):
		return "Invalid Refresh Token: Session Expired (Inactivity)"
	case c.AllowLowAAL > 0 && s.AAL == "aal1" && u.HasVerifiedFactor() && now.After(s.CreatedAt.Add(c.AllowLowAAL)):
		return "Invalid Refresh Token: Session Expired (Low AAL: User Needs MFA Verification)"
	}
	return ""
}
