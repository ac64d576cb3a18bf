package store

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/engine/auth/endpoint"
)

// Session is a row of auth.sessions.
type Session struct {
	ID           uuid.UUID  `db:"id"`
	UserID       uuid.UUID  `db:"user_id"`
	CreatedAt    time.Time  `db:"created_at"`
	AAL          string     `db:"aal"`
	NotAfter     *time.Time `db:"not_after"`
	RefreshedAt  *time.Time `db:"refreshed_at"`
	HMACKey      *string    `db:"refresh_token_hmac_key"` // base64url; only of sessions whose refresh tokens are signed
	TokenCounter *int64     `db:"refresh_token_counter"`
	Tag          string     `db:"tag"` // set by the installation in the database
	Application
}

// Application is the application that holds a session; zero for the user's own session.
type Application struct {
	ClientID *uuid.UUID `db:"oauth_client_id"`
	Scopes   string     `db:"scopes"` // separated by spaces
}

// AMREntry is an authentication method and its time in seconds since 1970 (RFC 8176, amr).
type AMREntry struct {
	Method    string `json:"method" db:"method"`
	Timestamp int64  `json:"timestamp" db:"timestamp"`
	Provider  string `json:"provider,omitempty" db:"-"` // of single sign-on
}

// Methods are the authentication methods of a session, the newest first.
type Methods []AMREntry

const selectMethods = `
	select authentication_method "method", floor(extract(epoch from updated_at))::bigint "timestamp"
	  from auth.mfa_amr_claims where session_id = $1 order by updated_at desc`

const selectSession = `
	select s.id, s.user_id, coalesce(s.created_at, 'epoch') created_at, coalesce(s.aal::text, 'aal1') aal, s.not_after,
	       s.refreshed_at at time zone 'utc' refreshed_at, s.refresh_token_hmac_key, s.refresh_token_counter,
	       coalesce(s.tag, '') tag, s.oauth_client_id, coalesce(s.scopes, '') scopes
	  from auth.sessions s `

// FindSession returns a session, or ErrNotFound.
func FindSession(ctx context.Context, q Queries, id uuid.UUID) (*Session, error) {
	rows, err := q.Query(ctx, selectSession+`where s.id = $1`, id)
	if err != nil {
		return nil, err
	}
	s, err := pgx.CollectExactlyOneRow(rows, pgx.RowToAddrOfStructByName[Session])
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, ErrNotFound
	}
	return s, err
}

// FindMethods returns the methods of a session.
func FindMethods(ctx context.Context, q Queries, session uuid.UUID) (Methods, error) {
	rows, err := q.Query(ctx, selectMethods, session)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByName[AMREntry])
}

// SessionState is a session with its methods.
type SessionState struct {
	*Session
	Methods Methods
}

// queueState adds to b the queries of a session's state. Without the session its Session is nil.
func queueState(b *pgx.Batch, id uuid.UUID) *SessionState {
	s := &SessionState{}
	QueueRow(b, &s.Session, selectSession+`where s.id = $1`, id)
	b.Queue(selectMethods, id).Query(func(rows pgx.Rows) (err error) {
		s.Methods, err = pgx.CollectRows(rows, pgx.RowToStructByName[AMREntry])
		return err
	})
	return s
}

// FindSessionState returns the state of a session, or ErrNotFound.
func FindSessionState(ctx context.Context, q Queries, id uuid.UUID) (*SessionState, error) {
	b := &pgx.Batch{}
	s := queueState(b, id)
	if err := q.SendBatch(ctx, b).Close(); err != nil {
		return nil, err
	}
	if s.Session == nil {
		return nil, ErrNotFound
	}
	return s, nil
}

// FindSessionStateAndUser returns the state of a session and its user in one round trip, or
// ErrNotFound.
func FindSessionStateAndUser(ctx context.Context, q Queries, id uuid.UUID) (*SessionState, *User, error) {
	b := &pgx.Batch{}
	s := queueState(b, id)
	var u *User
	QueueRow(b, &u, selectUser+`where u.id = (select user_id from auth.sessions where id = $1)`, id)
	if err := q.SendBatch(ctx, b).Close(); err != nil {
		return nil, nil, err
	}
	if s.Session == nil || u == nil {
		return nil, nil, ErrNotFound
	}
	u.inUTC()
	return s, u, nil
}

// OtherSessions returns the other sessions of the session's user.
func OtherSessions(ctx context.Context, q Queries, s *Session) ([]*Session, error) {
	rows, err := q.Query(ctx, selectSession+`where s.user_id = $1 and s.id <> $2`, s.UserID, s.ID)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToAddrOfStructByName[Session])
}

// InsertSession stores a new session and returns its id. The session ends at end, if that is not
// nil.
func InsertSession(ctx context.Context, tx pgx.Tx, user uuid.UUID, a Application, c endpoint.Client,
	now time.Time, end *time.Time) (uuid.UUID, error) {
	id := uuid.New()
	_, err := tx.Exec(ctx, `
		insert into auth.sessions (id, user_id, created_at, updated_at, aal, user_agent, ip, oauth_client_id, scopes,
		                           not_after)
		values ($1, $2, $3, $3, 'aal1', nullif($4, ''), nullif($5, '')::inet, $6, nullif($7, ''), $8)`,
		id, user, now, c.UserAgent, c.Address, a.ClientID, a.Scopes, end)
	return id, err
}

// AddMethod stores that the user has authenticated by the method at now.
func AddMethod(ctx context.Context, tx pgx.Tx, session uuid.UUID, method string, now time.Time) error {
	_, err := tx.Exec(ctx, `
		insert into auth.mfa_amr_claims (id, session_id, created_at, updated_at, authentication_method)
		values ($1, $2, $3, $3, $4)
		on conflict on constraint mfa_amr_claims_session_id_authentication_method_pkey
		do update set updated_at = excluded.updated_at`,
		uuid.New(), session, now, method)
	return err
}

// AssuranceLevel returns the level that the methods give a session (NIST SP 800-63B, in auth-js's
// names).
func (m Methods) AssuranceLevel() string {
	for _, entry := range m {
		switch entry.Method {
		case "totp", "mfa/phone", "mfa/webauthn":
			return "aal2"
		}
	}
	return "aal1"
}

// WithProvider returns the methods with the user's provider in entries of single sign-on.
func (m Methods) WithProvider(u *User) Methods {
	if len(u.Identities) != 1 || !IsSSO(u.Identities[0].Provider) {
		return m
	}
	for i := range m {
		if m[i].Method == MethodSAML {
			m[i].Provider = strings.TrimPrefix(u.Identities[0].Provider, SSOPrefix)
		}
	}
	return m
}

// BeganByLink reports whether the user has authenticated by a link or code, as after a forgotten
// password.
func (m Methods) BeganByLink() bool {
	for _, entry := range m {
		if entry.Method == "recovery" || entry.Method == "otp" || entry.Method == "magiclink" {
			return true
		}
	}
	return false
}

// LastUsed returns when the session was last refreshed; tokenTime is when its refresh token was
// last written.
func (s *Session) LastUsed(tokenTime time.Time) time.Time {
	if s.RefreshedAt != nil && !s.RefreshedAt.IsZero() {
		return *s.RefreshedAt
	}
	if tokenTime.After(s.CreatedAt) {
		return tokenTime
	}
	return s.CreatedAt
}

// EndSession deletes a session.
func EndSession(ctx context.Context, tx pgx.Tx, session uuid.UUID) error {
	_, err := tx.Exec(ctx, `delete from auth.sessions where id = $1`, session)
	return err
}

// EndSessions deletes all sessions of a user.
func EndSessions(ctx context.Context, tx pgx.Tx, user uuid.UUID) error {
	_, err := tx.Exec(ctx, `delete from auth.sessions where user_id = $1`, user)
	return err
}

// EndSessionsUpTo deletes the sessions of a user that are at most as strongly authenticated as s,
// which it deletes only if self is set.
func EndSessionsUpTo(ctx context.Context, tx pgx.Tx, s *Session, self bool) error {
	_, err := tx.Exec(ctx, `
		delete from auth.sessions
		 where user_id = $1 and coalesce(aal::text, 'aal1') <= $2 and ($3 or id <> $4)`,
		s.UserID, cmp.Or(s.AAL, "aal1"), self, s.ID)
	return err
}

// EndOtherSessions deletes all sessions of a user but one.
func EndOtherSessions(ctx context.Context, tx pgx.Tx, user, keep uuid.UUID) error {
	_, err := tx.Exec(ctx, `delete from auth.sessions where user_id = $1 and id <> $2`, user, keep)
	return err
}
