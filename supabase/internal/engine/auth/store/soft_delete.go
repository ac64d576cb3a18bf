package store

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// SoftDelete keeps the row, because other rows may refer to it. It replaces personal data by
// hashes, so that the person can sign up again. It hashes empty texts too, as GoTrue does, which
// cannot read NULL in the columns of pending changes.
func SoftDelete(ctx context.Context, tx pgx.Tx, u *User, now time.Time) error {
	if u.DeletedAt != nil {
		return nil
	}
	u.DeletedAt = &now
	if _, err := tx.Exec(ctx, `
		update auth.users
		   set email = $2, phone = $3, email_change = $4, phone_change = $5, encrypted_password = null,
		       confirmation_token = '', recovery_token = '', email_change_token_current = '',
		       email_change_token_new = '', phone_change_token = '', reauthentication_token = '',
		       raw_user_meta_data = '{}', raw_app_meta_data = '{}', deleted_at = $6, updated_at = $6
		 where id = $1`,
		u.ID, obscured(u.ID, u.Email), obscured(u.ID, u.Phone)[:15], obscured(u.ID, u.EmailChange),
		obscured(u.ID, u.PhoneChange)[:15], now); err != nil {
		return err
	}
	for _, i := range u.Identities {
		if _, err := tx.Exec(ctx, `
			update auth.identities set provider_id = $2, identity_data = '{}', updated_at = $3 where id = $1`,
			i.ID, obscured(u.ID, i.Provider+":"+i.ProviderID), now); err != nil {
			return err
		}
	}
	if err := EndPending(ctx, tx, u.ID); err != nil {
		return err
	}
	for _, statement := range []string{
		`delete from auth.mfa_factors where user_id = $1`,
		`delete from auth.webauthn_credentials where user_id = $1`,
		`delete from auth.one_time_tokens where user_id = $1`,
		`delete from auth.sessions where user_id = $1`,
	} {
		if _, err := tx.Exec(ctx, statement, u.ID); err != nil {
			return err
		}
	}
	return nil
}

// obscured returns a hash of text and the user's id.
func obscured(user uuid.UUID, text string) string {
	sum := sha256.Sum256([]byte(user.String() + text))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}
