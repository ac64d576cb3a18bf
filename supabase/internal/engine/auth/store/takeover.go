package store

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"
)

// An account may hold a contact that its user has not proven beside one that the user has: the
// address of a linked identity that the provider did not verify, or a contact that an administrator
// did not confirm. Such a contact is not a way into the account for the person who proves it, who
// may be another one. ProvenEmail and ProvenPhone are the condition on a user u that the contact is
// not of this kind.
const (
	ProvenEmail = `(u.email_confirmed_at is not null or u.phone_confirmed_at is null)`
	ProvenPhone = `(u.phone_confirmed_at is not null or u.email_confirmed_at is null)`
)

// Release takes the contacts of u, an account that is stored or changed, from other accounts that
// hold them unproven beside a proven one, with the identity and the tokens of the contact.
func Release(ctx context.Context, tx pgx.Tx, u *User) error {
	b := &pgx.Batch{}
	if u.Email != "" && !u.IsSSO {
		b.Queue(`
			with released as (
			  update auth.users u
			     set email = null, confirmation_token = '', recovery_token = '', email_change_token_current = ''
			   where u.email = $1 and u.id <> $2 and not $3 and not u.is_sso_user and not `+ProvenEmail+`
			  returning u.id),
			identities as (
			  delete from auth.identities i using released r where i.user_id = r.id and i.provider = 'email')
			delete from auth.one_time_tokens t using released r
			 where t.user_id = r.id and t.token_type <> 'phone_change_token'`, u.Email, u.ID, u.Decoy)
	}
	if u.Phone != "" {
		b.Queue(`
			with released as (
			  update auth.users u set phone = null, confirmation_token = ''
			   where u.phone = $1 and u.id <> $2 and not $3 and not `+ProvenPhone+`
			  returning u.id),
			identities as (
			  delete from auth.identities i using released r where i.user_id = r.id and i.provider = 'phone')
			delete from auth.one_time_tokens t using released r
			 where t.user_id = r.id and t.token_type = 'confirmation_token'`, u.Phone, u.ID, u.Decoy)
	}
	if b.Len() == 0 {
		return nil
	}
	return tx.SendBatch(ctx, b).Close()
}

// KeepOnly deletes an unconfirmed account's password and every identity but one, whose provider did
// not verify the address.
func (s *Store) KeepOnly(ctx context.Context, tx pgx.Tx, u *User, provider, subject string) error {
	u.EncryptedPassword = nil
	if err := SetColumn(ctx, tx, u, "encrypted_password", nil, s.Now()); err != nil {
		return err
	}
	return s.keepIdentity(ctx, tx, u, provider, subject)
}

// TakeOver gives an unconfirmed account to the holder of one of its identities, whose provider
// verified the address.
func (s *Store) TakeOver(ctx context.Context, tx pgx.Tx, u *User, provider, subject string) error {
	if err := s.Evict(ctx, tx, u, ""); err != nil {
		return err
	}
	return s.keepIdentity(ctx, tx, u, provider, subject)
}

// Evict replaces the password of an unconfirmed account by hash and removes every other access that
// a stranger may have: what SavePassword ends, second factors, passkeys and the consents to
// applications.
func (s *Store) Evict(ctx context.Context, tx pgx.Tx, u *User, hash string) error {
	if err := SavePassword(ctx, tx, u, hash, nil, s.Now()); err != nil {
		return err
	}
	u.Factors = nil
	b := &pgx.Batch{}
	b.Queue(`delete from auth.mfa_factors where user_id = $1`, u.ID)
	b.Queue(`delete from auth.webauthn_credentials where user_id = $1`, u.ID)
	b.Queue(`delete from auth.webauthn_challenges where user_id = $1`, u.ID)
	b.Queue(`delete from auth.oauth_consents where user_id = $1`, u.ID)
	return tx.SendBatch(ctx, b).Close()
}

// keepIdentity deletes an unconfirmed account's identities but one. The data of that one become the
// account's.
func (s *Store) keepIdentity(ctx context.Context, tx pgx.Tx, u *User, provider, subject string) error {
	now := s.Now()
	if _, err := tx.Exec(ctx,
		`delete from auth.identities where user_id = $1 and not (provider = $2 and provider_id = $3)`, u.ID, provider,
		subject); err != nil {
		return err
	}
	u.Identities = slices.DeleteFunc(u.Identities,
		func(i Identity) bool { return i.Provider != provider || i.ProviderID != subject })
	for _, i := range u.Identities {
		if err := SaveUserMetadata(ctx, tx, u, i.Data, now); err != nil {
			return err
		}
	}
	return SaveProviders(ctx, tx, u, now)
}

// Disown removes what a stranger may have stored in an account with an unconfirmed address: every
// access, and the identities of providers. autoconfirm: addresses need no confirmation, so an
// unconfirmed account with one is an administrator's and keeps its password. The account has no
// proven number.
func (s *Store) Disown(ctx context.Context, tx pgx.Tx, u *User, autoconfirm bool) error {
	if !u.HasIdentity("email") || !autoconfirm {
		if err := s.Evict(ctx, tx, u, ""); err != nil {
			return err
		}
	}
	return s.KeepContact(ctx, tx, u, "email", nil)
}

// KeepContact leaves only the identity of the contact. The identities of providers that did not
// verify the contact are removed with their data.
func (s *Store) KeepContact(ctx context.Context, tx pgx.Tx, u *User, provider string, data map[string]any) error {
	if !u.HasIdentity(provider) {
		if err := InsertIdentity(ctx, tx, u, provider, ContactData(u, data), s.Now()); err != nil {
			return err
		}
	} else if len(u.Identities) == 1 {
		return nil
	}
	return s.keepIdentity(ctx, tx, u, provider, u.ID.String())
}
