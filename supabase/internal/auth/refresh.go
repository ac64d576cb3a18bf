package auth

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/auth/endpoint"
	"daawo/supabase/internal/auth/store"
	"daawo/supabase/internal/wire"
)

var errAlreadyUsed = wire.Errorf(http.StatusBadRequest, "refresh_token_already_used", "Invalid Refresh Token: Already Used")

// refreshGrant exchanges a refresh token for a fresh pair.
func (e *Engine) refreshGrant(w http.ResponseWriter, r *http.Request) error {
	var p struct {
		RefreshToken string `json:"refresh_token"`
	}
	if err := endpoint.ReadJSON(r, &p); err != nil {
		return err
	}
	reply, err := e.refresh(r, w.Header(), p.RefreshToken, nil)
	if err != nil {
		return err
	}
	return endpoint.SendJSON(w, http.StatusOK, reply)
}

// refresh does so for the application that holds the session; nil for a session of the user's own.
func (e *Engine) refresh(r *http.Request, headers http.Header, text string, holder *uuid.UUID) (*tokenReply, error) {
	legacy := isLegacyToken(text)
	var signed signedToken
	if !legacy {
		var err error
		if signed, err = parseSignedToken(text); err != nil {
			return nil, wire.Errorf(http.StatusBadRequest, "validation_failed", "Refresh token is not valid")
		}
	}
	return store.InTx(r.Context(), e.db, func(tx pgx.Tx) (*tokenReply, error) {
		if legacy {
			return e.refreshLegacy(r, tx, headers, text, holder)
		}
		return e.refreshSigned(r, tx, headers, signed, holder)
	})
}

// legacyToken is a row of auth.refresh_tokens.
type legacyToken struct {
	ID        int64      `db:"id"`
	Token     string     `db:"token"`
	Parent    string     `db:"parent"`
	UserID    uuid.UUID  `db:"user_id"`
	SessionID *uuid.UUID `db:"session_id"`
	Revoked   bool       `db:"revoked"`
	UpdatedAt time.Time  `db:"updated_at"`
}

const selectLegacyToken = `
	select id, token, coalesce(parent, '') parent, user_id::uuid user_id, session_id, coalesce(revoked, false) revoked,
	       coalesce(updated_at, 'epoch') updated_at
	  from auth.refresh_tokens `

func findLegacyToken(ctx context.Context, tx pgx.Tx, where string, args ...any) (*legacyToken, error) {
	rows, err := tx.Query(ctx, selectLegacyToken+where, args...)
	if err != nil {
		return nil, err
	}
	t, err := pgx.CollectExactlyOneRow(rows, pgx.RowToAddrOfStructByName[legacyToken])
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, store.ErrNotFound
	}
	return t, err
}

// refreshLegacy follows GoTrue's rules for a token that was already used: the parent of the active token gives the active
// one again, for the client may have lost the answer; any other is taken for the reuse interval and then ends its family.
// The family is ended by marking its tokens anew, which is why each of them is taken once more within the interval.
func (e *Engine) refreshLegacy(r *http.Request, tx pgx.Tx, headers http.Header, text string, holder *uuid.UUID) (*tokenReply, error) {
	ctx := r.Context()
	// The session is held: two refreshes, and a refresh and a second factor, follow one another, whichever replica they reach.
	if _, err := tx.Exec(ctx, `
		select from auth.sessions where id = (select session_id from auth.refresh_tokens where token = $1) for update`, text); err != nil {
		return nil, err
	}
	t, err := findLegacyToken(ctx, tx, `where token = $1 for update`, text)
	if errors.Is(err, store.ErrNotFound) {
		return nil, wire.Errorf(http.StatusBadRequest, "refresh_token_not_found", "Invalid Refresh Token: Refresh Token Not Found")
	}
	if err != nil {
		return nil, err
	}
	if t.SessionID == nil {
		if _, err := tx.Exec(ctx, `delete from auth.refresh_tokens where id = $1`, t.ID); err != nil {
			return nil, err
		}
		return nil, store.AfterCommit(wire.Errorf(http.StatusBadRequest, "session_not_found", "Invalid Refresh Token: No Valid Session Found"))
	}
	u, _, err := e.refreshable(ctx, tx, headers, *t.SessionID, t.UpdatedAt, holder)
	if err != nil {
		return nil, err
	}
	issued := ""
	if t.Revoked {
		active, err := findLegacyToken(ctx, tx, `where session_id = $1 and revoked is false order by id desc limit 1`, *t.SessionID)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return nil, err
		}
		if active != nil && active.Parent == t.Token {
			issued = active.Token
		} else if e.now().After(t.UpdatedAt.Add(e.config.ReuseInterval)) {
			if e.config.RefreshTokenRotation {
				if _, err := tx.Exec(ctx, `update auth.refresh_tokens set revoked = true, updated_at = $2 where session_id = $1 and revoked is false`,
					*t.SessionID, e.now()); err != nil {
					return nil, err
				}
			}
			return nil, store.AfterCommit(errAlreadyUsed)
		}
	}
	if err := e.store.Audit(ctx, tx, u, "token_refreshed", nil); err != nil {
		return nil, err
	}
	if issued == "" {
		if issued, err = e.swapToken(ctx, tx, u, t); err != nil {
			return nil, err
		}
		headers.Set("sb-auth-refresh-token-reuse", "false")
	}
	headers.Set("sb-auth-refresh-token-prefix", issued[:5])
	return e.refreshed(r, tx, u, *t.SessionID, issued)
}

// swapToken revokes a token and makes its child.
func (e *Engine) swapToken(ctx context.Context, tx pgx.Tx, u *store.User, t *legacyToken) (string, error) {
	if err := e.store.Audit(ctx, tx, u, "token_revoked", nil); err != nil {
		return "", err
	}
	now := e.now()
	if _, err := tx.Exec(ctx, `update auth.refresh_tokens set revoked = true, updated_at = $2 where id = $1`, t.ID, now); err != nil {
		return "", err
	}
	return storeLegacyToken(ctx, tx, u, *t.SessionID, t.Token, now)
}

// storeLegacyToken makes a token of the session; parent is the one it was exchanged for, "" where there is none.
func storeLegacyToken(ctx context.Context, tx pgx.Tx, u *store.User, session uuid.UUID, parent string, now time.Time) (string, error) {
	token := newLegacyToken()
	_, err := tx.Exec(ctx, `
		insert into auth.refresh_tokens (instance_id, token, parent, user_id, revoked, created_at, updated_at, session_id)
		values ('00000000-0000-0000-0000-000000000000', $1, nullif($2, ''), $3, false, $4, $4, $5)`,
		token, parent, u.ID.String(), now, session)
	return token, err
}

// refreshSigned follows the counter: the current token moves it on, the one before it gives the current one again, older
// ones do so within the reuse interval and end the session after it.
func (e *Engine) refreshSigned(r *http.Request, tx pgx.Tx, headers http.Header, t signedToken, holder *uuid.UUID) (*tokenReply, error) {
	ctx := r.Context()
	if _, err := tx.Exec(ctx, `select from auth.sessions where id = $1 for update`, t.Session); err != nil {
		return nil, err
	}
	notFound := wire.Errorf(http.StatusBadRequest, "refresh_token_not_found", "Invalid Refresh Token: Refresh Token Not Found")
	u, s, err := e.refreshable(ctx, tx, headers, t.Session, time.Time{}, holder)
	if err != nil {
		return nil, err
	}
	if s.HMACKey == nil || s.TokenCounter == nil {
		return nil, notFound
	}
	key, err := base64.RawURLEncoding.DecodeString(*s.HMACKey)
	if err != nil {
		return nil, err
	}
	if !t.authentic(key) {
		return nil, notFound
	}
	counter := *s.TokenCounter
	switch behind := counter - t.Counter; {
	case behind < 0:
		return nil, wire.Errorf(http.StatusBadRequest, "validation_failed", "Invalid Refresh Token: Not Issued By This Server")
	case behind == 0:
		counter++
		headers.Set("sb-auth-refresh-token-reuse", "false")
	default:
		cause := ""
		if e.now().Sub(s.LastUsed(time.Time{})).Abs() < e.config.ReuseInterval {
			cause = "concurrent-refresh"
		}
		if behind == 1 {
			if cause != "" {
				cause += ","
			}
			cause += "fail-to-save"
		}
		if e.config.AllowReuse {
			cause = strings.TrimPrefix(cause+",always-allow", ",")
		}
		if cause == "" {
			if e.config.RefreshTokenRotation {
				headers.Set("sb-auth-refresh-token-rotated", "true")
				if err := store.EndSession(ctx, tx, s.ID); err != nil {
					return nil, err
				}
			}
			return nil, store.AfterCommit(errAlreadyUsed)
		}
		headers.Set("sb-auth-refresh-token-reuse-cause", cause)
	}
	if _, err := tx.Exec(ctx, `update auth.sessions set refresh_token_counter = $2 where id = $1`, s.ID, counter); err != nil {
		return nil, err
	}
	headers.Set("sb-auth-refresh-token-counter", strconv.FormatInt(counter, 10))
	if err := e.store.Audit(ctx, tx, u, "token_refreshed", nil); err != nil {
		return nil, err
	}
	return e.refreshed(r, tx, u, s.ID, signedToken{Session: s.ID, Counter: counter}.encode(key))
}

// refreshable loads whose session it is and checks that it may go on.
func (e *Engine) refreshable(ctx context.Context, tx pgx.Tx, headers http.Header, session uuid.UUID, tokenTime time.Time, holder *uuid.UUID) (*store.User, *store.Session, error) {
	s, err := store.FindSession(ctx, tx, session)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil, wire.Errorf(http.StatusBadRequest, "refresh_token_not_found", "Invalid Refresh Token: Refresh Token Not Found")
	}
	if err != nil {
		return nil, nil, err
	}
	u, err := store.UserByID(ctx, tx, s.UserID)
	if err != nil {
		return nil, nil, err
	}
	headers.Set("sb-auth-user-id", u.ID.String())
	if u.Banned(e.now()) {
		return nil, nil, wire.Errorf(http.StatusBadRequest, "user_banned", "Invalid Refresh Token: User Banned")
	}
	headers.Set("sb-auth-session-id", s.ID.String())
	if why := e.expired(s, u, tokenTime); why != "" {
		return nil, nil, wire.Errorf(http.StatusBadRequest, "session_expired", "%s", why)
	}
	if err := checkHolder(s, holder); err != nil {
		return nil, nil, err
	}
	if e.config.SinglePerUser {
		others, err := store.OtherSessions(ctx, tx, s)
		if err != nil {
			return nil, nil, err
		}
		for _, o := range others {
			if o.LastUsed(time.Time{}).After(s.LastUsed(tokenTime)) && e.expired(o, u, time.Time{}) == "" {
				return nil, nil, wire.Errorf(http.StatusBadRequest, "session_expired", "Invalid Refresh Token: Session Expired (Revoked by Newer Login)")
			}
		}
	}
	return u, s, nil
}

// refreshed notes when and by whom the session was used, and answers.
func (e *Engine) refreshed(r *http.Request, tx pgx.Tx, u *store.User, session uuid.UUID, token string) (*tokenReply, error) {
	c := endpoint.ClientOf(r)
	if _, err := tx.Exec(r.Context(), `
		update auth.sessions
		   set refreshed_at = $2 at time zone 'utc', updated_at = $2, user_agent = nullif($3, ''), ip = nullif($4, '')::inet
		 where id = $1`,
		session, e.now(), c.UserAgent, c.Address); err != nil {
		return nil, err
	}
	return e.newTokenReply(r, tx, u, session, token, "token_refresh")
}
