package session

import (
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/engine/auth/store"
)

// refreshSigned compares the counters. The current token advances the counter; the one before it
// returns the current one again; older tokens do so within the reuse interval, and end the session
// after it.
func (m *Manager) refreshSigned(r *http.Request, tx pgx.Tx, headers http.Header, t signedToken,
	holder *uuid.UUID) (*TokenReply, error) {
	ctx := r.Context()
	if _, err := tx.Exec(ctx, `select from auth.sessions where id = $1 for update`, t.Session); err != nil {
		return nil, err
	}
	var key []byte
	u, s, err := m.refreshable(ctx, tx, headers, t.Session, func(s *store.SessionState) (err error) {
		if s.HMACKey == nil || s.TokenCounter == nil {
			return errUnknownToken
		}
		if key, err = base64.RawURLEncoding.DecodeString(*s.HMACKey); err == nil && !t.authentic(key) {
			err = errUnknownToken
		}
		return err
	}, time.Time{}, holder)
	if err != nil {
		return nil, err
	}
	counter := *s.TokenCounter
	switch behind := counter - t.Counter; {
	case behind < 0:
		return nil, apierror.Errorf(http.StatusBadRequest, "validation_failed",
			"Invalid Refresh Token: Not Issued By This Server")
	case behind == 0:
		counter++
		headers.Set("sb-auth-refresh-token-reuse", "false")
	default:
		cause := ""
		if m.Now().Sub(s.LastUsed(time.Time{})).Abs() < m.Config.ReuseInterval {
			cause = "concurrent-refresh"
		}
		if behind == 1 {
			if cause != "" {
				cause += ","
			}
			cause += "fail-to-save"
		}
		if m.Config.AllowReuse {
			cause = strings.TrimPrefix(cause+",always-allow", ",")
		}
		if cause == "" {
			if m.Config.RefreshTokenRotation {
				headers.Set("sb-auth-refresh-token-rotated", "true")
				if err := store.EndSession(ctx, tx, s.ID); err != nil {
					return nil, err
				}
			}
			return nil, store.AfterCommit(errAlreadyUsed)
		}
		headers.Set("sb-auth-refresh-token-reuse-cause", cause)
	}
	writes := &pgx.Batch{}
	writes.Queue(`update auth.sessions set refresh_token_counter = $2 where id = $1`, s.ID, counter)
	headers.Set("sb-auth-refresh-token-counter", strconv.FormatInt(counter, 10))
	if err := m.Store.QueueAudit(ctx, writes, u, "token_refreshed", nil); err != nil {
		return nil, err
	}
	return m.refreshed(r, tx, writes, u, s, signedToken{Session: s.ID, Counter: counter}.encode(key))
}
