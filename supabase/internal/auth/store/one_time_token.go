package store

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// A proof is a secret that was sent to somebody, as a link and as a code, to prove that an address or number is theirs.
// Only its hash is stored: in the user's row, where GoTrue looks when a code is entered, and in auth.one_time_tokens,
// where it looks when a link is followed.
type OneTimeToken struct {
	Kind   string // auth.one_time_token_type
	token  string // columns of auth.users
	sentAt string
	Fields func(*User) (token *string, sentAt **time.Time)
}

var (
	Confirmation = OneTimeToken{"confirmation_token", "confirmation_token", "confirmation_sent_at",
		func(u *User) (*string, **time.Time) { return &u.ConfirmationToken, &u.ConfirmationSentAt }}
	Recovery = OneTimeToken{"recovery_token", "recovery_token", "recovery_sent_at",
		func(u *User) (*string, **time.Time) { return &u.RecoveryToken, &u.RecoverySentAt }}
	Reauthentication = OneTimeToken{"reauthentication_token", "reauthentication_token", "reauthentication_sent_at",
		func(u *User) (*string, **time.Time) { return &u.ReauthenticationToken, &u.ReauthenticationSentAt }}
	EmailChangeCurrent = OneTimeToken{"email_change_token_current", "email_change_token_current", "email_change_sent_at",
		func(u *User) (*string, **time.Time) { return &u.EmailChangeTokenCurrent, &u.EmailChangeSentAt }}
	EmailChangeNew = OneTimeToken{"email_change_token_new", "email_change_token_new", "email_change_sent_at",
		func(u *User) (*string, **time.Time) { return &u.EmailChangeTokenNew, &u.EmailChangeSentAt }}
	PhoneChange = OneTimeToken{"phone_change_token", "phone_change_token", "phone_change_sent_at",
		func(u *User) (*string, **time.Time) { return &u.PhoneChangeToken, &u.PhoneChangeSentAt }}
)

// HashCode is the stored form of a code that was sent to an address or number.
func HashCode(contact, code string) string {
	sum := sha256.Sum224([]byte(contact + code))
	return hex.EncodeToString(sum[:])
}

// PKCEPrefix marks the hash of a link that was asked for with a code challenge.
const PKCEPrefix = "pkce_"

// Save stores the hash of a proof that is being sent to contact.
func (p OneTimeToken) Save(ctx context.Context, tx pgx.Tx, u *User, contact, hash string, now time.Time) error {
	token, sentAt := p.Fields(u)
	*token, *sentAt = hash, &now
	u.UpdatedAt = now
	if _, err := tx.Exec(ctx, fmt.Sprintf(`update auth.users set %s = $2, %s = $3, updated_at = $3 where id = $1`, p.token, p.sentAt),
		u.ID, hash, now); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `
		insert into auth.one_time_tokens (id, user_id, token_type, token_hash, relates_to, created_at, updated_at)
		values ($1, $2, $3::auth.one_time_token_type, $4, $5, $6 at time zone 'utc', $6 at time zone 'utc')
		on conflict (user_id, token_type) do update
		set id = excluded.id, token_hash = excluded.token_hash, relates_to = excluded.relates_to,
		    created_at = excluded.created_at, updated_at = excluded.updated_at`,
		uuid.New(), u.ID, p.Kind, hash, strings.ToLower(contact), now)
	return err
}

// Clear forgets one proof of the user.
func (p OneTimeToken) Clear(ctx context.Context, tx pgx.Tx, u *User, now time.Time) error {
	token, _ := p.Fields(u)
	*token = ""
	if err := SetColumn(ctx, tx, u, p.token, "", now); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `delete from auth.one_time_tokens where user_id = $1 and token_type = $2::auth.one_time_token_type`, u.ID, p.Kind)
	return err
}

// Matches compares a hash with what was sent, and says whether that is still valid.
func (p OneTimeToken) Matches(u *User, hash string, life time.Duration, now time.Time) bool {
	token, sentAt := p.Fields(u)
	if *token == "" || *sentAt == nil || now.After((*sentAt).Add(life)) {
		return false
	}
	return Equal(*token, hash) || Equal(*token, PKCEPrefix+hash)
}

func Equal(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// LockUserByToken finds whose link it is and holds the user. The link is looked up again: it may have been used meanwhile.
func LockUserByToken(ctx context.Context, tx pgx.Tx, hash string, kinds ...OneTimeToken) (*User, error) {
	u, err := UserByToken(ctx, tx, hash, kinds...)
	if err != nil {
		return nil, err
	}
	if err := LockUser(ctx, tx, u.ID); err != nil {
		return nil, err
	}
	return UserByToken(ctx, tx, hash, kinds...)
}

// UserByToken finds whose link it is.
func UserByToken(ctx context.Context, q pgx.Tx, hash string, kinds ...OneTimeToken) (*User, error) {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.Kind
	}
	var id uuid.UUID
	err := q.QueryRow(ctx, `
		select user_id from auth.one_time_tokens where token_hash = $1 and token_type::text = any($2) limit 1`, hash, names).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	return UserByID(ctx, q, id)
}

// DeleteTokens removes every link and code that was sent to the user.
func DeleteTokens(ctx context.Context, tx pgx.Tx, user uuid.UUID) error {
	_, err := tx.Exec(ctx, `delete from auth.one_time_tokens where user_id = $1`, user)
	return err
}
