package store

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/base/apierror"
)

// OneTimeToken is a kind of secret that is sent to a contact as a link and as a code. Only a hash
// is stored: in the row of the user, where GoTrue looks up a code, and in auth.one_time_tokens,
// where it looks up a link.
type OneTimeToken struct {
	Kind   string // auth.one_time_token_type
	token  string // column of auth.users
	sentAt string // column of auth.users
	Fields func(*User) (token *string, sentAt **time.Time)
}

// The kinds of one-time tokens.
var (
	Confirmation = OneTimeToken{"confirmation_token", "confirmation_token", "confirmation_sent_at",
		func(u *User) (*string, **time.Time) { return &u.ConfirmationToken, &u.ConfirmationSentAt }}
	Recovery = OneTimeToken{"recovery_token", "recovery_token", "recovery_sent_at",
		func(u *User) (*string, **time.Time) { return &u.RecoveryToken, &u.RecoverySentAt }}
	Reauthentication = OneTimeToken{"reauthentication_token", "reauthentication_token", "reauthentication_sent_at",
		func(u *User) (*string, **time.Time) { return &u.ReauthenticationToken, &u.ReauthenticationSentAt }}
	EmailChangeCurrent = OneTimeToken{"email_change_token_current", "email_change_token_current",
		"email_change_sent_at", func(u *User) (*string, **time.Time) {
			return &u.EmailChangeTokenCurrent,
				&u.EmailChangeSentAt
		}}
	EmailChangeNew = OneTimeToken{"email_change_token_new", "email_change_token_new", "email_change_sent_at",
		func(u *User) (*string, **time.Time) { return &u.EmailChangeTokenNew, &u.EmailChangeSentAt }}
	PhoneChange = OneTimeToken{"phone_change_token", "phone_change_token", "phone_change_sent_at",
		func(u *User) (*string, **time.Time) { return &u.PhoneChangeToken, &u.PhoneChangeSentAt }}
)

// HashCode returns the stored form of a code that was sent to a contact.
func HashCode(contact, code string) string {
	sum := sha256.Sum224([]byte(contact + code))
	return hex.EncodeToString(sum[:])
}

// PKCEPrefix marks the hash of a link that belongs to a flow with a code challenge.
const PKCEPrefix = "pkce_"

// ErrContactChanged is the reply if the account was deleted, or got another address or number,
// while a message to the former one waited.
var ErrContactChanged = apierror.Errorf(http.StatusConflict, "conflict",
	"The account was changed by another request")

// Lock locks the user and reads again when the last token was sent, because another request may
// have sent one since. It returns ErrContactChanged if the account has another address or
// number than u.
func (t OneTimeToken) Lock(ctx context.Context, tx pgx.Tx, u *User) error {
	_, sentAt := t.Fields(u)
	var email, phone string
	err := tx.QueryRow(ctx, fmt.Sprintf(`
		select coalesce(email, ''), coalesce(phone, ''), %s from auth.users where id = $1 for update`, t.sentAt), u.ID).
		Scan(&email, &phone, sentAt)
	if u.Decoy && errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if errors.Is(err, pgx.ErrNoRows) || err == nil && (email != u.Email || phone != u.Phone) {
		return ErrContactChanged
	}
	UTC(sentAt)
	return err
}

// Save stores the hash of a token that is sent to contact.
func (t OneTimeToken) Save(ctx context.Context, tx pgx.Tx, u *User, contact, hash string, now time.Time) error {
	token, sentAt := t.Fields(u)
	*token, *sentAt = hash, &now
	u.UpdatedAt = now
	if _, err := tx.Exec(ctx,
		fmt.Sprintf(`update auth.users set %s = $2, %s = $3, updated_at = $3 where id = $1`, t.token, t.sentAt), u.ID,
		hash, now); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `
		insert into auth.one_time_tokens (id, user_id, token_type, token_hash, relates_to, created_at, updated_at)
		select $1, $2, $3::auth.one_time_token_type, $4, $5, $6 at time zone 'utc', $6 at time zone 'utc' where not $7
		on conflict (user_id, token_type) do update
		set id = excluded.id, token_hash = excluded.token_hash, relates_to = excluded.relates_to,
		    created_at = excluded.created_at, updated_at = excluded.updated_at`,
		uuid.New(), u.ID, t.Kind, hash, strings.ToLower(contact), now, u.Decoy)
	return err
}

// Clear deletes the user's token.
func (t OneTimeToken) Clear(ctx context.Context, tx pgx.Tx, u *User, now time.Time) error {
	token, _ := t.Fields(u)
	*token = ""
	if err := SetColumn(ctx, tx, u, t.token, "", now); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `delete from auth.one_time_tokens
		where user_id = $1 and token_type = $2::auth.one_time_token_type`, u.ID, t.Kind)
	return err
}

// Matches reports whether hash belongs to a token which has not expired.
func (t OneTimeToken) Matches(u *User, hash string, life time.Duration, now time.Time) bool {
	token, sentAt := t.Fields(u)
	if *token == "" || *sentAt == nil || now.After((*sentAt).Add(life)) {
		return false
	}
	return Equal(*token, hash) || Equal(*token, PKCEPrefix+hash)
}

// Equal compares two texts in constant time.
func Equal(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// LockUserByToken returns the user of a link and locks the row. It reads the token again after the
// lock, because the link may have been used by then.
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

// UserByToken returns the user of a link, by the hash.
func UserByToken(ctx context.Context, q pgx.Tx, hash string, kinds ...OneTimeToken) (*User, error) {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.Kind
	}
	var id uuid.UUID
	err := q.QueryRow(ctx, `
		select user_id from auth.one_time_tokens where token_hash = $1 and token_type::text = any($2) limit 1`, hash,
		names).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	return UserByID(ctx, q, id)
}

// DeleteTokens deletes all tokens of the user.
func DeleteTokens(ctx context.Context, tx pgx.Tx, user uuid.UUID) error {
	_, err := tx.Exec(ctx, `delete from auth.one_time_tokens where user_id = $1`, user)
	return err
}
