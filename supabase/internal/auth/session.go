package auth

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Session is a row of auth.sessions with the methods that proved it.
type Session struct {
	ID           uuid.UUID  `db:"id"`
	UserID       uuid.UUID  `db:"user_id"`
	CreatedAt    time.Time  `db:"created_at"`
	AAL          string     `db:"aal"`
	NotAfter     *time.Time `db:"not_after"`
	RefreshedAt  *time.Time `db:"refreshed_at"`
	HMACKey      *string    `db:"refresh_token_hmac_key"` // base64url; only of sessions whose refresh tokens are signed
	TokenCounter *int64     `db:"refresh_token_counter"`
	Methods      []amrEntry `db:"methods"`
	application
}

// application is what holds a session that a user granted to an application; zero in a session of the user's own.
type application struct {
	ClientID *uuid.UUID `db:"oauth_client_id"`
	Scopes   string     `db:"scopes"` // separated by spaces
}

// amrEntry says how and when (seconds since 1970) the person proved who they are (RFC 8176, amr).
type amrEntry struct {
	Method    string `json:"method"`
	Timestamp int64  `json:"timestamp"`
}

const selectSession = `
	select s.id, s.user_id, coalesce(s.created_at, 'epoch') created_at, coalesce(s.aal::text, 'aal1') aal, s.not_after,
	       s.refreshed_at at time zone 'utc' refreshed_at, s.refresh_token_hmac_key, s.refresh_token_counter,
	       s.oauth_client_id, coalesce(s.scopes, '') scopes,
	       (select coalesce(json_agg(json_build_object('method', m.authentication_method,
	                                                   'timestamp', floor(extract(epoch from m.updated_at))::bigint)
	                                 order by m.updated_at desc), '[]')
	          from auth.mfa_amr_claims m where m.session_id = s.id) methods
	  from auth.sessions s `

func findSession(ctx context.Context, q queries, id uuid.UUID) (*Session, error) {
	rows, err := q.Query(ctx, selectSession+`where s.id = $1`, id)
	if err != nil {
		return nil, err
	}
	s, err := pgx.CollectExactlyOneRow(rows, pgx.RowToAddrOfStructByName[Session])
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, errNotFound
	}
	return s, err
}

// sessionsBeside finds the others of the session's user.
func sessionsBeside(ctx context.Context, q queries, s *Session) ([]*Session, error) {
	rows, err := q.Query(ctx, selectSession+`where s.user_id = $1 and s.id <> $2`, s.UserID, s.ID)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToAddrOfStructByName[Session])
}

// insertSession begins a session. What the client is, is kept as GoTrue keeps it: for accounts only.
func insertSession(ctx context.Context, tx pgx.Tx, user uuid.UUID, a application, c client, now time.Time) (uuid.UUID, error) {
	id := uuid.New()
	_, err := tx.Exec(ctx, `
		insert into auth.sessions (id, user_id, created_at, updated_at, aal, user_agent, ip, oauth_client_id, scopes)
		values ($1, $2, $3, $3, 'aal1', nullif($4, ''), nullif($5, '')::inet, $6, nullif($7, ''))`,
		id, user, now, c.userAgent, c.address, a.ClientID, a.Scopes)
	return id, err
}

// addMethod notes that the person proved who they are in this way just now.
func addMethod(ctx context.Context, tx pgx.Tx, session uuid.UUID, method string, now time.Time) error {
	_, err := tx.Exec(ctx, `
		insert into auth.mfa_amr_claims (id, session_id, created_at, updated_at, authentication_method)
		values ($1, $2, $3, $3, $4)
		on conflict on constraint mfa_amr_claims_session_id_authentication_method_pkey
		do update set updated_at = excluded.updated_at`,
		uuid.New(), session, now, method)
	return err
}

// assurance is the level that the session's methods reach (NIST SP 800-63B as auth-js names it).
func (s *Session) assurance() string {
	for _, m := range s.Methods {
		switch m.Method {
		case "totp", "mfa/phone", "mfa/webauthn":
			return "aal2"
		}
	}
	return "aal1"
}

// recovery says whether the session began with a link that was sent for a forgotten password.
func (s *Session) recovery() bool {
	for _, m := range s.Methods {
		if m.Method == "recovery" || m.Method == "otp" || m.Method == "magiclink" {
			return true
		}
	}
	return false
}

// lastUsed is when the session was last refreshed; tokenTime is when its refresh token was last written.
func (s *Session) lastUsed(tokenTime time.Time) time.Time {
	if s.RefreshedAt != nil && !s.RefreshedAt.IsZero() {
		return *s.RefreshedAt
	}
	if tokenTime.After(s.CreatedAt) {
		return tokenTime
	}
	return s.CreatedAt
}

// expired says why the session may not be refreshed any more; "" when it may.
func (e *Engine) expired(s *Session, u *User, tokenTime time.Time) string {
	c, now := e.config, e.now()
	switch {
	case s.NotAfter != nil && now.After(*s.NotAfter), c.Timebox > 0 && now.After(s.CreatedAt.Add(c.Timebox)):
		return "Invalid Refresh Token: Session Expired"
	case c.Inactivity > 0 && now.After(s.lastUsed(tokenTime).Add(c.Inactivity)):
		return "Invalid Refresh Token: Session Expired (Inactivity)"
	case c.AllowLowAAL > 0 && s.AAL == "aal1" && u.verifiedFactor() && now.After(s.CreatedAt.Add(c.AllowLowAAL)):
		return "Invalid Refresh Token: Session Expired (Low AAL: User Needs MFA Verification)"
	}
	return ""
}

func logoutSession(ctx context.Context, tx pgx.Tx, session uuid.UUID) error {
	_, err := tx.Exec(ctx, `delete from auth.sessions where id = $1`, session)
	return err
}

func logoutAll(ctx context.Context, tx pgx.Tx, user uuid.UUID) error {
	_, err := tx.Exec(ctx, `delete from auth.sessions where user_id = $1`, user)
	return err
}

func logoutOthers(ctx context.Context, tx pgx.Tx, user, keep uuid.UUID) error {
	_, err := tx.Exec(ctx, `delete from auth.sessions where user_id = $1 and id <> $2`, user, keep)
	return err
}
