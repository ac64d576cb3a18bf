package auth

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

	"daawo/supabase/internal/wire"
)

// A proof is a secret that was sent to somebody, as a link and as a code, to prove that an address or number is theirs.
// Only its hash is stored: in the user's row, where GoTrue looks when a code is entered, and in auth.one_time_tokens,
// where it looks when a link is followed.
type proof struct {
	kind   string // auth.one_time_token_type
	token  string // columns of auth.users
	sentAt string
	fields func(*User) (token *string, sentAt **time.Time)
}

var (
	proofConfirmation = proof{"confirmation_token", "confirmation_token", "confirmation_sent_at",
		func(u *User) (*string, **time.Time) { return &u.ConfirmationToken, &u.ConfirmationSentAt }}
	proofRecovery = proof{"recovery_token", "recovery_token", "recovery_sent_at",
		func(u *User) (*string, **time.Time) { return &u.RecoveryToken, &u.RecoverySentAt }}
	proofReauthentication = proof{"reauthentication_token", "reauthentication_token", "reauthentication_sent_at",
		func(u *User) (*string, **time.Time) { return &u.ReauthenticationToken, &u.ReauthenticationSentAt }}
	proofChangeCurrent = proof{"email_change_token_current", "email_change_token_current", "email_change_sent_at",
		func(u *User) (*string, **time.Time) { return &u.EmailChangeTokenCurrent, &u.EmailChangeSentAt }}
	proofChangeNew = proof{"email_change_token_new", "email_change_token_new", "email_change_sent_at",
		func(u *User) (*string, **time.Time) { return &u.EmailChangeTokenNew, &u.EmailChangeSentAt }}
	proofPhoneChange = proof{"phone_change_token", "phone_change_token", "phone_change_sent_at",
		func(u *User) (*string, **time.Time) { return &u.PhoneChangeToken, &u.PhoneChangeSentAt }}
)

// hashOf is the stored form of a code that was sent to an address or number.
func hashOf(contact, code string) string {
	sum := sha256.Sum224([]byte(contact + code))
	return hex.EncodeToString(sum[:])
}

// pkcePrefix marks the hash of a link that was asked for with a code challenge.
const pkcePrefix = "pkce_"

// save stores the hash of a proof that is being sent to contact.
func (p proof) save(ctx context.Context, tx pgx.Tx, u *User, contact, hash string, now time.Time) error {
	token, sentAt := p.fields(u)
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
		uuid.New(), u.ID, p.kind, hash, strings.ToLower(contact), now)
	return err
}

// clear forgets one proof of the user.
func (p proof) clear(ctx context.Context, tx pgx.Tx, u *User, now time.Time) error {
	token, _ := p.fields(u)
	*token = ""
	if err := setColumn(ctx, tx, u, p.token, "", now); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `delete from auth.one_time_tokens where user_id = $1 and token_type = $2::auth.one_time_token_type`, u.ID, p.kind)
	return err
}

// matches compares a hash with what was sent, and says whether that is still valid.
func (p proof) matches(u *User, hash string, life time.Duration, now time.Time) bool {
	token, sentAt := p.fields(u)
	if *token == "" || *sentAt == nil || now.After((*sentAt).Add(life)) {
		return false
	}
	return equal(*token, hash) || equal(*token, pkcePrefix+hash)
}

func equal(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// tooSoon refuses a message that follows another one too closely. One that was sent in the future was sent by a clock that
// has been wrong, and does not count.
func (e *Engine) tooSoon(sentAt *time.Time, gap time.Duration, code string) error {
	if sentAt == nil || gap <= 0 || !sentAt.Add(gap).After(e.now()) || sentAt.After(e.now().Add(gap)) {
		return nil
	}
	left := int(sentAt.Add(gap).Sub(e.now()) / time.Second)
	return wire.Errorf(http.StatusTooManyRequests, code, "For security purposes, you can only request this after %d seconds.", left)
}

// holdUser makes others who would use up the user's proofs wait until the transaction ends: each works once.
func holdUser(ctx context.Context, tx pgx.Tx, user uuid.UUID) error {
	_, err := tx.Exec(ctx, `select from auth.users where id = $1 for update`, user)
	return err
}

// reload holds the user and reads them again: what was read before may have changed while the request waited, and they may
// be gone (errNotFound).
func reload(ctx context.Context, tx pgx.Tx, u *User) error {
	if err := holdUser(ctx, tx, u.ID); err != nil {
		return err
	}
	fresh, err := userByID(ctx, tx, u.ID)
	if err == nil {
		*u = *fresh
	}
	return err
}

// heldByProof finds whose link it is and holds the user. The link is looked up again: it may have been used meanwhile.
func heldByProof(ctx context.Context, tx pgx.Tx, hash string, kinds ...proof) (*User, error) {
	u, err := userByProof(ctx, tx, hash, kinds...)
	if err != nil {
		return nil, err
	}
	if err := holdUser(ctx, tx, u.ID); err != nil {
		return nil, err
	}
	return userByProof(ctx, tx, hash, kinds...)
}

// userByProof finds whose link it is.
func userByProof(ctx context.Context, q pgx.Tx, hash string, kinds ...proof) (*User, error) {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.kind
	}
	var id uuid.UUID
	err := q.QueryRow(ctx, `
		select user_id from auth.one_time_tokens where token_hash = $1 and token_type::text = any($2) limit 1`, hash, names).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, errNotFound
	}
	if err != nil {
		return nil, err
	}
	return userByID(ctx, q, id)
}
