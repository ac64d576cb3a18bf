package store

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/database/pool"
)

// NewUser returns the row of a new account, without storing it.
func (s *Store) NewUser(email, phone string, data Metadata, hash, audience string) *User {
	now := s.Now()
	u := &User{
		ID: uuid.New(), Audience: audience, Role: s.Config.DefaultRole, Email: email, Phone: phone,
		EncryptedPassword: &hash, AppMetadata: Metadata{}, UserMetadata: data.Copy(),
		Identities: []Identity{}, CreatedAt: now.Truncate(time.Microsecond), UpdatedAt: now.Truncate(time.Microsecond),
	}
	switch {
	case email != "":
		u.AppMetadata = Metadata{"provider": "email", "providers": []string{"email"}}
	case phone != "":
		u.AppMetadata = Metadata{"provider": "phone", "providers": []string{"phone"}}
	default:
		u.IsAnonymous = true
	}
	return u
}

// StoreUser stores an account and returns the reply to an error. Other accounts lose the contacts
// of u that they hold unproven beside a proven one.
func StoreUser(ctx context.Context, tx pgx.Tx, u *User) error {
	if err := Release(ctx, tx, u); err != nil {
		return err
	}
	err := InsertUser(ctx, tx, u)
	switch {
	case err == nil:
		return nil
	case pool.IsCode(err, "23505"): // another request was faster
		return apierror.Errorf(http.StatusUnprocessableEntity, "user_already_exists",
			"User already registered").WithCause(err)
	}
	return DatabaseError(err, "Database error saving new user")
}

// ContactData returns the data of an identity of an address or number. It is unverified until the
// user follows a link.
func ContactData(u *User, extra Metadata) Metadata {
	data := Metadata{}.Merge(extra).Merge(Metadata{"sub": u.ID.String(), "email_verified": false,
		"phone_verified": false})
	if u.Email != "" {
		data["email"] = u.Email
	}
	return data
}

// InsertUser stores a new account. Columns of tokens are empty, not null, as GoTrue expects.
func InsertUser(ctx context.Context, tx pgx.Tx, u *User) error {
	_, err := tx.Exec(ctx, `
		insert into auth.users (
		  instance_id, id, aud, role, email, phone, encrypted_password, raw_app_meta_data, raw_user_meta_data,
		  is_anonymous, is_sso_user, created_at, updated_at, invited_at, banned_until,
		  confirmation_token, recovery_token, email_change_token_current, email_change_token_new, email_change,
		  phone_change, phone_change_token, reauthentication_token, email_change_confirm_status)
		select '00000000-0000-0000-0000-000000000000', $1, $2, $3, nullif($4, ''), nullif($5, ''), $6, $7, $8,
		       $9, $10, $11, $11, $12, $13, '', '', '', '', '', '', '', '', 0
		 where not $14`,
		u.ID, u.Audience, u.Role, u.Email, u.Phone, u.EncryptedPassword, u.AppMetadata.encode(),
		u.UserMetadata.encode(), u.IsAnonymous, u.IsSSO, u.CreatedAt, u.InvitedAt, u.BannedUntil, u.Decoy)
	return err
}

// InsertIdentity stores an identity of the user.
func InsertIdentity(ctx context.Context, tx pgx.Tx, u *User, provider string, data Metadata, now time.Time) error {
	i := Identity{
		ID: uuid.New(), ProviderID: data.Text("sub"), UserID: u.ID, Data: data, Provider: provider,
		LastSignInAt: &now, CreatedAt: now, UpdatedAt: now, Email: data.Text("email"),
	}
	_, err := tx.Exec(ctx, `
		insert into auth.identities
			(id, provider_id, user_id, identity_data, provider, last_sign_in_at, created_at, updated_at)
		select $1, $2, $3, $4, $5, $6, $6, $6 where not $7`,
		i.ID, i.ProviderID, u.ID, data.encode(), provider, now, u.Decoy)
	if err != nil {
		return err
	}
	u.Identities = append(u.Identities, i)
	return nil
}

// SaveProviders writes app_metadata.provider, which is the provider of the oldest identity, and
// .providers.
func SaveProviders(ctx context.Context, tx pgx.Tx, u *User, now time.Time) error {
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
	return SaveAppMetadata(ctx, tx, u, u.AppMetadata.Merge(Metadata{"provider": providers[0], "providers": providers}),
		now)
}

// SaveIdentityData replaces the data of an identity.
func SaveIdentityData(ctx context.Context, tx pgx.Tx, i *Identity, data Metadata, now time.Time) error {
	i.Data, i.Email, i.UpdatedAt = data, strings.ToLower(data.Text("email")), now
	_, err := tx.Exec(ctx, `update auth.identities set identity_data = $2, updated_at = $3 where id = $1`, i.ID,
		data.encode(), now)
	return err
}

// SaveAppMetadata replaces app_metadata.
func SaveAppMetadata(ctx context.Context, tx pgx.Tx, u *User, m Metadata, now time.Time) error {
	u.AppMetadata = m
	return SetColumn(ctx, tx, u, "raw_app_meta_data", m.encode(), now)
}

// SaveUserMetadata replaces user_metadata.
func SaveUserMetadata(ctx context.Context, tx pgx.Tx, u *User, m Metadata, now time.Time) error {
	u.UserMetadata = m
	return SetColumn(ctx, tx, u, "raw_user_meta_data", m.encode(), now)
}

// ConfirmEmail marks the address as confirmed and deletes the tokens. A user with a confirmed
// contact is not anonymous.
func ConfirmEmail(ctx context.Context, tx pgx.Tx, u *User, now time.Time) error {
	u.ConfirmationToken, u.EmailConfirmedAt, u.UpdatedAt = "", &now, now
	u.IsAnonymous = u.IsAnonymous && u.Email == ""
	if _, err := tx.Exec(ctx, `
		update auth.users
		   set confirmation_token = '', email_confirmed_at = $2, is_anonymous = $3, updated_at = $2
		 where id = $1`, u.ID, now, u.IsAnonymous); err != nil {
		return err
	}
	if err := SaveUserMetadata(ctx, tx, u, u.UserMetadata.Merge(Metadata{"email_verified": true}), now); err != nil {
		return err
	}
	return DeleteTokens(ctx, tx, u.ID)
}

// ConfirmPhone marks the number as confirmed and deletes the tokens. A user with a confirmed
// contact is not anonymous.
func ConfirmPhone(ctx context.Context, tx pgx.Tx, u *User, now time.Time) error {
	u.ConfirmationToken, u.RecoveryToken, u.PhoneConfirmedAt, u.UpdatedAt = "", "", &now, now
	u.IsAnonymous = u.IsAnonymous && u.Phone == ""
	if _, err := tx.Exec(ctx, `
		update auth.users
		   set confirmation_token = '', recovery_token = '', phone_confirmed_at = $2, is_anonymous = $3, updated_at = $2
		 where id = $1`, u.ID, now, u.IsAnonymous); err != nil {
		return err
	}
	return DeleteTokens(ctx, tx, u.ID)
}

// SavePassword stores a new hash. It deletes links and codes that were sent before, changes of
// contacts that wait for them, the sessions other than keep, and what would begin a session or add
// an identity.
func SavePassword(ctx context.Context, tx pgx.Tx, u *User, hash string, keep *uuid.UUID, now time.Time) error {
	u.EncryptedPassword, u.UpdatedAt = &hash, now
	u.ConfirmationToken, u.RecoveryToken, u.EmailChangeTokenCurrent, u.EmailChangeTokenNew, u.PhoneChangeToken,
		u.ReauthenticationToken = "", "", "", "", "", ""
	u.EmailChange, u.EmailChangeConfirmStatus, u.PhoneChange = "", 0, ""
	if _, err := tx.Exec(ctx, `
		update auth.users
		   set encrypted_password = $2, confirmation_token = '', recovery_token = '', email_change_token_current = '',
		       email_change_token_new = '', phone_change_token = '', reauthentication_token = '', email_change = '',
		       email_change_confirm_status = 0, phone_change = '', updated_at = $3
		 where id = $1`, u.ID, hash, now); err != nil {
		return err
	}
	if err := DeleteTokens(ctx, tx, u.ID); err != nil {
		return err
	}
	if err := EndPending(ctx, tx, u.ID); err != nil {
		return err
	}
	if keep == nil {
		return EndSessions(ctx, tx, u.ID)
	}
	return EndOtherSessions(ctx, tx, u.ID, *keep)
}

// EndPending deletes the codes that would begin a session of the user, also of an application, and
// the flows that would link an identity. A flow whose link was deleted never gets a code, so it
// stays. The caller has locked the user.
func EndPending(ctx context.Context, tx pgx.Tx, user uuid.UUID) error {
	b := &pgx.Batch{}
	b.Queue(`delete from auth.flow_state
		where user_id = $1 and auth_code_issued_at is not null or linking_target_id = $1`, user)
	b.Queue(`delete from auth.oauth_authorizations where user_id = $1 and status = 'approved'`, user)
	return tx.SendBatch(ctx, b).Close()
}

// ChangePassword is SavePassword for a change by the user or an administrator. As in GoTrue, it
// forgets when messages were sent, so that new ones need not wait for their least interval.
func ChangePassword(ctx context.Context, tx pgx.Tx, u *User, hash string, keep *uuid.UUID, now time.Time) error {
	u.ConfirmationSentAt, u.RecoverySentAt, u.EmailChangeSentAt, u.PhoneChangeSentAt, u.ReauthenticationSentAt = nil,
		nil, nil, nil, nil
	if _, err := tx.Exec(ctx, `
		update auth.users
		   set confirmation_sent_at = null, recovery_sent_at = null, email_change_sent_at = null,
		       phone_change_sent_at = null,
		       reauthentication_sent_at = null
		 where id = $1`, u.ID); err != nil {
		return err
	}
	return SavePassword(ctx, tx, u, hash, keep, now)
}

// SetColumn changes one column of the user's row. column must not come from a client.
func SetColumn(ctx context.Context, tx pgx.Tx, u *User, column string, value any, now time.Time) error {
	u.UpdatedAt = now
	_, err := tx.Exec(ctx, `update auth.users set `+pgx.Identifier{column}.Sanitize()+
		` = $2, updated_at = $3 where id = $1`, u.ID, value, now)
	return err
}

// SaveContactIdentity stores the address or number in the account's identity, and makes the
// identity if it is missing.
func SaveContactIdentity(ctx context.Context, tx pgx.Tx, u *User, provider, value string, verified bool,
	now time.Time) error {
	data := Metadata{"sub": u.ID.String(), provider: value, provider + "_verified": verified}
	for i := range u.Identities {
		id := &u.Identities[i]
		if id.Provider != provider || id.ProviderID != u.ID.String() {
			continue
		}
		id.Data, id.UpdatedAt = id.Data.Merge(data), now
		if provider == "email" {
			id.Email = value
		}
		_, err := tx.Exec(ctx, `update auth.identities set identity_data = $2, updated_at = $3 where id = $1`, id.ID,
			id.Data.encode(), now)
		return err
	}
	data = Metadata{"email_verified": false, "phone_verified": false}.Merge(data)
	return InsertIdentity(ctx, tx, u, provider, data, now)
}

// LockUser locks the user's row until the transaction ends, so that each of the user's tokens works
// once.
func LockUser(ctx context.Context, tx pgx.Tx, user uuid.UUID) error {
	_, err := tx.Exec(ctx, `select from auth.users where id = $1 for update`, user)
	return err
}

// ReloadUser locks the user and reads the row again, because it may have changed while the request
// waited. It returns ErrNotFound if the user is gone.
func ReloadUser(ctx context.Context, tx pgx.Tx, u *User) error {
	if err := LockUser(ctx, tx, u.ID); err != nil {
		return err
	}
	fresh, err := UserByID(ctx, tx, u.ID)
	if err == nil {
		*u = *fresh
	}
	return err
}
