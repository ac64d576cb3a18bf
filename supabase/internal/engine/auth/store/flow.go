package store

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Flow is a sign-in in progress. It holds what the client asked for while the user is at another
// provider or opens a mail. With a code challenge (RFC 7636) it ends with a code instead of tokens.
type Flow struct {
	ID              uuid.UUID  `db:"id"`
	UserID          *uuid.UUID `db:"user_id"`
	AuthCode        string     `db:"auth_code"`
	Challenge       string     `db:"code_challenge"`
	ChallengeMethod string     `db:"code_challenge_method"`
	Provider        string     `db:"provider_type"`
	Method          string     `db:"authentication_method"`
	AccessToken     string     `db:"provider_access_token"`
	RefreshToken    string     `db:"provider_refresh_token"`
	InviteToken     string     `db:"invite_token"`
	Referrer        string     `db:"referrer"`
	ClientStateID   *uuid.UUID `db:"oauth_client_state_id"`
	LinkingTargetID *uuid.UUID `db:"linking_target_id"`
	EmailOptional   bool       `db:"email_optional"`
	CreatedAt       time.Time  `db:"created_at"`
	CodeIssuedAt    *time.Time `db:"auth_code_issued_at"`
	Decoy           bool       `db:"-"` // of a User that is one
}

// PKCE reports whether the flow ends with a code.
func (f *Flow) PKCE() bool { return f.Challenge != "" }

// Expired reports whether the flow is too old. The lifetime begins when the code is issued if the
// flow waited for a mailed link.
func (f *Flow) Expired(life time.Duration, now time.Time) bool {
	if f.CodeIssuedAt != nil && f.Method == "magiclink" {
		return now.After(f.CodeIssuedAt.Add(life))
	}
	return now.After(f.CreatedAt.Add(life))
}

// NewFlow stores a flow.
func (s *Store) NewFlow(ctx context.Context, tx pgx.Tx, f Flow) error {
	_, err := s.InsertFlow(ctx, tx, f)
	return err
}

// InsertFlow stores a flow and returns its id, which it chooses if the flow has none.
func (s *Store) InsertFlow(ctx context.Context, tx pgx.Tx, f Flow) (uuid.UUID, error) {
	if f.ID == uuid.Nil {
		f.ID = uuid.New()
	}
	if f.PKCE() {
		f.AuthCode = uuid.NewString()
	}
	_, err := tx.Exec(ctx, `
		insert into auth.flow_state (
		  id, user_id, auth_code, code_challenge, code_challenge_method, provider_type, authentication_method,
		  provider_access_token, provider_refresh_token, invite_token, referrer, oauth_client_state_id,
		  linking_target_id, email_optional, created_at, updated_at)
		select $1, $2, nullif($3, ''), nullif($4, ''), nullif($5, '')::auth.code_challenge_method, $6, $7, '', '',
		       nullif($8, ''), nullif($9, ''), $10, $11, $12, $13, $13
		 where not $14`,
		f.ID, f.UserID, f.AuthCode, f.Challenge, strings.ToLower(f.ChallengeMethod), f.Provider, f.Method,
		f.InviteToken, f.Referrer, f.ClientStateID, f.LinkingTargetID, f.EmailOptional, s.Now(),
		f.Decoy)
	return f.ID, err
}

const selectFlow = `
	select id, user_id, coalesce(auth_code, '') auth_code, coalesce(code_challenge, '') code_challenge,
	       coalesce(code_challenge_method::text, '') code_challenge_method, provider_type, authentication_method,
	       coalesce(provider_access_token, '') provider_access_token,
	       coalesce(provider_refresh_token, '') provider_refresh_token, coalesce(invite_token, '') invite_token,
	       coalesce(referrer, '') referrer, oauth_client_state_id, linking_target_id, email_optional,
	       coalesce(created_at, 'epoch') created_at, auth_code_issued_at
	  from auth.flow_state `

// FindFlow returns the flow that the condition selects, or ErrNotFound.
func FindFlow(ctx context.Context, q Queries, where string, args ...any) (*Flow, error) {
	rows, err := q.Query(ctx, selectFlow+where, args...)
	if err != nil {
		return nil, err
	}
	f, err := pgx.CollectExactlyOneRow(rows, pgx.RowToAddrOfStructByName[Flow])
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, ErrNotFound
	}
	return f, err
}

// LockFlowByCode returns the flow of a code and its user, and locks first the user, then the flow,
// in the order of all other transactions. It reads the flow again after the lock, because the code
// may have been used or deleted by then.
func LockFlowByCode(ctx context.Context, tx pgx.Tx, code string) (*Flow, *User, error) {
	f, err := FindFlow(ctx, tx, `where auth_code = $1`, code)
	if err == nil && f.UserID == nil {
		err = ErrNotFound
	}
	if err != nil {
		return nil, nil, err
	}
	u := &User{ID: *f.UserID}
	if err := ReloadUser(ctx, tx, u); err != nil {
		return nil, nil, err
	}
	f, err = FindFlow(ctx, tx, `where auth_code = $1 for update`, code)
	return f, u, err
}

// Verifies reports whether verifier belongs to the flow's challenge.
func (f *Flow) Verifies(verifier string) bool {
	if f.ChallengeMethod == "s256" {
		sum := sha256.Sum256([]byte(verifier))
		verifier = base64.RawURLEncoding.EncodeToString(sum[:])
	}
	return Equal(f.Challenge, verifier)
}
