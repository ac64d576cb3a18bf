package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// BeginEmailChange stores the address that the account will have once it is confirmed.
func BeginEmailChange(ctx context.Context, tx pgx.Tx, u *User, address string, now time.Time) error {
	u.EmailChange, u.EmailChangeConfirmStatus = address, 0
	_, err := tx.Exec(ctx,
		`update auth.users set email_change = $2, email_change_confirm_status = 0, updated_at = $3 where id = $1`, u.ID,
		address, now)
	return err
}

// ChangeEmail gives the account a confirmed address.
func (s *Store) ChangeEmail(ctx context.Context, tx pgx.Tx, u *User, address string) error {
	now := s.Now()
	if err := SaveContactIdentity(ctx, tx, u, "email", address, true, now); err != nil {
		return err
	}
	u.Email, u.EmailChange, u.EmailChangeTokenCurrent, u.EmailChangeTokenNew, u.EmailChangeConfirmStatus,
		u.IsAnonymous = address, "", "", "", 0, false
	if err := Release(ctx, tx, u); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `
		update auth.users
		   set email = $2, email_change = '', email_change_token_current = '', email_change_token_new = '',
		       email_change_confirm_status = 0, is_anonymous = false, updated_at = $3
		 where id = $1`, u.ID, address, now); err != nil {
		return DuplicateContact(err, ErrEmailExists)
	}
	if err := DeleteTokens(ctx, tx, u.ID); err != nil {
		return err
	}
	if !u.Confirmed() {
		return ConfirmEmail(ctx, tx, u, now)
	}
	return nil
}

// ChangePhone gives the account a confirmed number.
func (s *Store) ChangePhone(ctx context.Context, tx pgx.Tx, u *User, phone string) error {
	now := s.Now()
	if err := SaveContactIdentity(ctx, tx, u, "phone", phone, true, now); err != nil {
		return err
	}
	u.Phone, u.PhoneChange, u.PhoneChangeToken, u.PhoneConfirmedAt, u.IsAnonymous = phone, "", "", &now, false
	u.ConfirmationToken, u.RecoveryToken = "", "" // which another person may have asked for
	if err := Release(ctx, tx, u); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `
		update auth.users
		   set phone = $2, phone_change = '', phone_change_token = '', phone_confirmed_at = $3, is_anonymous = false,
		       confirmation_token = '', recovery_token = '', updated_at = $3
		 where id = $1`, u.ID, phone, now); err != nil {
		return DuplicateContact(err, ErrPhoneExists)
	}
	return DeleteTokens(ctx, tx, u.ID)
}
