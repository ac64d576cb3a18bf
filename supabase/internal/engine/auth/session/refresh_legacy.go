package session

import (
	"context"
	"encoding/base64"
	"errors"
	"hash/crc32"
	"math/rand"
	"net/http"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/engine/auth/store"
)

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

// activeToken returns the newest token of a session that is not revoked, or store.ErrNotFound.
func activeToken(ctx context.Context, tx pgx.Tx, session uuid.UUID) (*legacyToken, error) {
	rows, err := tx.Query(ctx, selectLegacyToken+`where session_id = $1 and revoked is false order by id desc limit 1`,
		session)
	if err != nil {
		return nil, err
	}
	t, err := pgx.CollectExactlyOneRow(rows, pgx.RowToAddrOfStructByName[legacyToken])
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, store.ErrNotFound
	}
	return t, err
}

// lockLegacyToken returns a token, or store.ErrNotFound. It first locks the session, in the same
// round trip. This serialises refreshes, and refreshes with second factors, also across replicas.
func lockLegacyToken(ctx context.Context, tx pgx.Tx, text string) (t *legacyToken, err error) {
	b := &pgx.Batch{}
	b.Queue(`select from auth.sessions
		where id = (select session_id from auth.refresh_tokens where token = $1) for update`, text)
	store.QueueRow(b, &t, selectLegacyToken+`where token = $1 for update`, text)
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return nil, err
	}
	if t == nil {
		return nil, store.ErrNotFound
	}
	return t, nil
}

// refreshLegacy follows GoTrue's rules for a token that was already used. The parent of the active
// token returns the active one again, because the client may have lost the reply. Any other token
// is accepted within the reuse interval, and after it ends its family. Ending marks the tokens of
// the family again, so each of them is accepted once more within the interval.
func (m *Manager) refreshLegacy(r *http.Request, tx pgx.Tx, headers http.Header, text string,
	holder *uuid.UUID) (*TokenReply, error) {
	ctx := r.Context()
	t, err := lockLegacyToken(ctx, tx, text)
	if errors.Is(err, store.ErrNotFound) {
		return nil, errUnknownToken
	}
	if err != nil {
		return nil, err
	}
	if t.SessionID == nil {
		if _, err := tx.Exec(ctx, `delete from auth.refresh_tokens where id = $1`, t.ID); err != nil {
			return nil, err
		}
		return nil, store.AfterCommit(apierror.Errorf(http.StatusBadRequest, "session_not_found",
			"Invalid Refresh Token: No Valid Session Found"))
	}
	// The stored token itself shows that it belongs to the session.
	stored := func(*store.SessionState) error { return nil }
	u, s, err := m.refreshable(ctx, tx, headers, *t.SessionID, stored, t.UpdatedAt, holder)
	if err != nil {
		return nil, err
	}
	issued := ""
	if t.Revoked {
		active, err := activeToken(ctx, tx, *t.SessionID)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return nil, err
		}
		if active != nil && active.Parent == t.Token {
			issued = active.Token
		} else if m.Now().After(t.UpdatedAt.Add(m.Config.ReuseInterval)) {
			if m.Config.RefreshTokenRotation {
				if err := m.endFamily(ctx, tx, s); err != nil {
					return nil, err
				}
			}
			return nil, store.AfterCommit(errAlreadyUsed)
		}
	}
	writes := &pgx.Batch{}
	if err := m.Store.QueueAudit(ctx, writes, u, "token_refreshed", nil); err != nil {
		return nil, err
	}
	if issued == "" {
		if issued, err = m.queueSwap(ctx, writes, headers, u, s, t); err != nil {
			return nil, err
		}
		headers.Set("sb-auth-refresh-token-reuse", "false")
	}
	headers.Set("sb-auth-refresh-token-prefix", issued[:5])
	return m.refreshed(r, tx, writes, u, s, issued)
}

// endFamily revokes the stored tokens of a session. If its tokens are signed now, it ends the
// session: a signed token cannot be revoked. GoTrue leaves it valid.
func (m *Manager) endFamily(ctx context.Context, tx pgx.Tx, s *store.SessionState) error {
	if s.TokenCounter != nil {
		return store.EndSession(ctx, tx, s.ID)
	}
	_, err := tx.Exec(ctx, `
		update auth.refresh_tokens set revoked = true, updated_at = $2
		 where session_id = $1 and revoked is false`, s.ID, m.Now())
	return err
}

// queueSwap adds to b the statements that revoke a token and store its successor, which it returns.
// The successor is signed in the part of the sessions that the configuration upgrades.
func (m *Manager) queueSwap(ctx context.Context, b *pgx.Batch, headers http.Header, u *store.User,
	s *store.SessionState, t *legacyToken) (string, error) {
	if err := m.Store.QueueAudit(ctx, b, u, "token_revoked", nil); err != nil {
		return "", err
	}
	now := m.Now()
	b.Queue(`update auth.refresh_tokens set revoked = true, updated_at = $2 where id = $1`, t.ID, now)
	if m.Config.upgrades(s.ID) {
		return queueSignedToken(b, headers, s)
	}
	token := newLegacyToken()
	b.Queue(insertLegacyToken, token, t.Token, u.ID.String(), now, *t.SessionID)
	return token, nil
}

// upgrades reports whether the tokens of a session become signed ones. As in GoTrue, the id of the
// session decides, so the part is one of sessions and not of requests.
func (c Config) upgrades(id uuid.UUID) bool {
	part := c.UpgradePercentage
	if !c.SignedRefreshTokens || part <= 0 || part >= 100 {
		return c.SignedRefreshTokens && part >= 100
	}
	return rand.New(rand.NewSource(int64(crc32.ChecksumIEEE(id[:])))).Intn(100) < part
}

// queueSignedToken adds to b the statement that advances the counter of a session, or gives it a
// key, and returns the token.
func queueSignedToken(b *pgx.Batch, headers http.Header, s *store.SessionState) (string, error) {
	key, counter := newTokenKey(), int64(0)
	if s.HMACKey != nil && s.TokenCounter != nil {
		var err error
		if key, err = base64.RawURLEncoding.DecodeString(*s.HMACKey); err != nil {
			return "", err
		}
		counter = *s.TokenCounter + 1
	}
	b.Queue(`update auth.sessions set refresh_token_hmac_key = $2, refresh_token_counter = $3 where id = $1`, s.ID,
		base64.RawURLEncoding.EncodeToString(key), counter)
	headers.Set("sb-auth-refresh-token-counter", strconv.FormatInt(counter, 10))
	return signedToken{Session: s.ID, Counter: counter}.encode(key), nil
}

// insertLegacyToken stores a token: itself, the token that it replaces (empty for none), the user,
// now, the session.
const insertLegacyToken = `
	insert into auth.refresh_tokens (instance_id, token, parent, user_id, revoked, created_at, updated_at, session_id)
	values ('00000000-0000-0000-0000-000000000000', $1, nullif($2, ''), $3, false, $4, $4, $5)`

// storeLegacyToken stores the first token of a session, or the first after a second factor, and
// returns it.
func storeLegacyToken(ctx context.Context, tx pgx.Tx, u *store.User, session uuid.UUID, now time.Time) (string, error) {
	token := newLegacyToken()
	_, err := tx.Exec(ctx, insertLegacyToken, token, "", u.ID.String(), now, session)
	return token, err
}
