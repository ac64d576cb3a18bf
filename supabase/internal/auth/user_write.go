package auth

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// insertUser stores a new account. Texts that links and codes fill later are empty, not null: GoTrue reads them so.
func insertUser(ctx context.Context, tx pgx.Tx, u *User) error {
	_, err := tx.Exec(ctx, `
		insert into auth.users (
		  instance_id, id, aud, role, email, phone, encrypted_password, raw_app_meta_data, raw_user_meta_data,
		  is_anonymous, is_sso_user, created_at, updated_at, invited_at, banned_until,
		  confirmation_token, recovery_token, email_change_token_current, email_change_token_new, email_change,
		  phone_change, phone_change_token, reauthentication_token, email_change_confirm_status)
		values ('00000000-0000-0000-0000-000000000000', $1, $2, $3, nullif($4, ''), nullif($5, ''), $6, $7, $8,
		        $9, $10, $11, $11, $12, $13, '', '', '', '', '', '', '', '', 0)`,
		u.ID, u.Audience, u.Role, u.Email, u.Phone, u.EncryptedPassword, u.AppMetadata.json(), u.UserMetadata.json(),
		u.IsAnonymous, u.IsSSO, u.CreatedAt, u.InvitedAt, u.BannedUntil)
	return err
}

// insertIdentity stores one way in which the user is known and notes its provider in the account's metadata.
func insertIdentity(ctx context.Context, tx pgx.Tx, u *User, provider string, data metadata, now time.Time) error {
	i := Identity{
		ID: uuid.New(), ProviderID: data.text("sub"), UserID: u.ID, Data: data, Provider: provider,
		LastSignInAt: &now, CreatedAt: now, UpdatedAt: now, Email: data.text("email"),
	}
	_, err := tx.Exec(ctx, `
		insert into auth.identities (id, provider_id, user_id, identity_data, provider, last_sign_in_at, created_at, updated_at)
		values ($1, $2, $3, $4, $5, $6, $6, $6)`,
		i.ID, i.ProviderID, u.ID, data.json(), provider, now)
	if err != nil {
		return err
	}
	u.Identities = append(u.Identities, i)
	return saveProviders(ctx, tx, u, now)
}

// saveProviders writes app_metadata.provider and .providers anew from the identities.
func saveProviders(ctx context.Context, tx pgx.Tx, u *User, now time.Time) error {
	var providers []any
	seen := map[string]bool{}
	for _, i := range u.Identities {
		if !seen[i.Provider] {
			seen[i.Provider] = true
			providers = append(providers, i.Provider)
		}
	}
	if len(providers) == 0 {
		return nil
	}
	first, known := u.AppMetadata["provider"].(string)
	if !known || !seen[first] {
		first = providers[0].(string)
	}
	return saveAppMetadata(ctx, tx, u, u.AppMetadata.merge(metadata{"provider": first, "providers": providers}), now)
}

// saveIdentityData replaces what is known of an identity.
func saveIdentityData(ctx context.Context, tx pgx.Tx, i *Identity, data metadata, now time.Time) error {
	i.Data, i.Email, i.UpdatedAt = data, strings.ToLower(data.text("email")), now
	_, err := tx.Exec(ctx, `update auth.identities set identity_data = $2, updated_at = $3 where id = $1`, i.ID, data.json(), now)
	return err
}

func (m metadata) text(name string) string {
	s, _ := m[name].(string)
	return s
}

func saveAppMetadata(ctx context.Context, tx pgx.Tx, u *User, m metadata, now time.Time) error {
	u.AppMetadata, u.UpdatedAt = m, now
	_, err := tx.Exec(ctx, `update auth.users set raw_app_meta_data = $2, updated_at = $3 where id = $1`, u.ID, m.json(), now)
	return err
}

func saveUserMetadata(ctx context.Context, tx pgx.Tx, u *User, m metadata, now time.Time) error {
	u.UserMetadata, u.UpdatedAt = m, now
	_, err := tx.Exec(ctx, `update auth.users set raw_user_meta_data = $2, updated_at = $3 where id = $1`, u.ID, m.json(), now)
	return err
}

// confirmEmail marks the address as the person's and forgets the token that proved it.
func confirmEmail(ctx context.Context, tx pgx.Tx, u *User, now time.Time) error {
	u.ConfirmationToken, u.EmailConfirmedAt, u.UpdatedAt = "", &now, now
	if _, err := tx.Exec(ctx, `
		update auth.users set confirmation_token = '', email_confirmed_at = $2, updated_at = $2 where id = $1`, u.ID, now); err != nil {
		return err
	}
	if err := saveUserMetadata(ctx, tx, u, u.UserMetadata.merge(metadata{"email_verified": true}), now); err != nil {
		return err
	}
	return forgetTokens(ctx, tx, u.ID)
}

// confirmPhone marks the number as the person's.
func confirmPhone(ctx context.Context, tx pgx.Tx, u *User, now time.Time) error {
	u.ConfirmationToken, u.PhoneConfirmedAt, u.UpdatedAt = "", &now, now
	if _, err := tx.Exec(ctx, `
		update auth.users set confirmation_token = '', phone_confirmed_at = $2, updated_at = $2 where id = $1`, u.ID, now); err != nil {
		return err
	}
	return forgetTokens(ctx, tx, u.ID)
}

// forgetTokens removes every link and code that was sent to the user.
func forgetTokens(ctx context.Context, tx pgx.Tx, user uuid.UUID) error {
	_, err := tx.Exec(ctx, `delete from auth.one_time_tokens where user_id = $1`, user)
	return err
}

// savePassword stores a new hash. Links and codes sent before are void, and so are the user's other sessions and the codes
// that would begin one.
func savePassword(ctx context.Context, tx pgx.Tx, u *User, hash string, keep *uuid.UUID, now time.Time) error {
	u.EncryptedPassword, u.UpdatedAt = &hash, now
	u.ConfirmationToken, u.RecoveryToken, u.EmailChangeTokenCurrent, u.EmailChangeTokenNew, u.PhoneChangeToken, u.ReauthenticationToken = "", "", "", "", "", ""
	if _, err := tx.Exec(ctx, `
		update auth.users
		   set encrypted_password = $2, confirmation_token = '', recovery_token = '', email_change_token_current = '',
		       email_change_token_new = '', phone_change_token = '', reauthentication_token = '', updated_at = $3
		 where id = $1`, u.ID, hash, now); err != nil {
		return err
	}
	if err := forgetTokens(ctx, tx, u.ID); err != nil {
		return err
	}
	// A flow whose link is being followed has no code yet, and one whose link is void gets none.
	if _, err := tx.Exec(ctx, `delete from auth.flow_state where user_id = $1 and auth_code_issued_at is not null`, u.ID); err != nil {
		return err
	}
	if keep == nil {
		return logoutAll(ctx, tx, u.ID)
	}
	return logoutOthers(ctx, tx, u.ID, *keep)
}

// setColumn changes one column of the user's row; column is never a client's text.
func setColumn(ctx context.Context, tx pgx.Tx, u *User, column string, value any, now time.Time) error {
	u.UpdatedAt = now
	_, err := tx.Exec(ctx, `update auth.users set `+pgx.Identifier{column}.Sanitize()+` = $2, updated_at = $3 where id = $1`, u.ID, value, now)
	return err
}
