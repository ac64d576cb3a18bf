package verify

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/engine/auth/message"
	"daawo/supabase/internal/engine/auth/message/template"
	"daawo/supabase/internal/engine/auth/store"
)

// issueCode returns the code of the user's latest flow of the method, which is valid from now on.
func (s *Service) issueCode(ctx context.Context, tx pgx.Tx, u *store.User, method string) (string, error) {
	f, err := store.FindFlow(ctx, tx,
		`where user_id = $1 and authentication_method = $2 order by created_at desc limit 1`, u.ID, method)
	if errors.Is(err, store.ErrNotFound) || err == nil && !f.PKCE() {
		return "", apierror.Errorf(http.StatusBadRequest, "flow_state_not_found",
			"No associated flow state found. No valid flow state found for user.")
	}
	if err != nil {
		return "", err
	}
	_, err = tx.Exec(ctx, `update auth.flow_state set auth_code_issued_at = $2, updated_at = $2 where id = $1`, f.ID,
		s.Now())
	return f.AuthCode, err
}

// verified does what the link or code was sent for. half: another address must confirm, too.
func (s *Service) verified(r *http.Request, tx message.Tx, u *store.User, p verifyParams) (half bool, err error) {
	ctx := r.Context()
	switch p.Type {
	case "signup", "invite":
		err = s.verifiedSignup(ctx, tx, u)
	case "recovery", "magiclink":
		err = s.verifiedRecovery(ctx, tx, u)
	case "email_change":
		half, err = s.verifiedEmailChange(r, tx, u, p.TokenHash)
	case "sms", "phone_change":
		err = s.verifiedPhone(r, tx, u, p)
	default:
		err = apierror.Errorf(http.StatusBadRequest, "validation_failed", "Unsupported verification type")
	}
	if err != nil || half {
		return half, err
	}
	if err := store.SaveProviders(ctx, tx, u, s.Now()); err != nil {
		return false, err
	}
	reread, err := store.UserByID(ctx, tx, u.ID) // for the columns that the table generates
	if err != nil {
		return false, err
	}
	*u = *reread
	return false, nil
}

// verifiedSignup confirms the address of a sign-up or an invitation.
func (s *Service) verifiedSignup(ctx context.Context, tx pgx.Tx, u *store.User) error {
	if !u.HasPassword() && u.InvitedAt != nil {
		// An invited user sets a password after the first sign-in; until then it is random.
		hash, err := s.Passwords.Hash(ctx, s.Passwords.Random())
		if err != nil {
			return err
		}
		if err := store.SavePassword(ctx, tx, u, hash, nil, s.Now()); err != nil {
			return err
		}
	}
	if err := s.Store.Audit(ctx, tx, u, "user_signedup", map[string]any{"provider": "email"}); err != nil {
		return err
	}
	if err := store.ConfirmEmail(ctx, tx, u, s.Now()); err != nil {
		return err
	}
	for i := range u.Identities {
		id := &u.Identities[i]
		if id.Email == "" || id.Email != u.Email {
			continue
		}
		if err := store.SaveIdentityData(ctx, tx, id, id.Data.Merge(store.Metadata{"email_verified": true}),
			s.Now()); err != nil {
			return err
		}
	}
	return nil
}

// verifiedRecovery uses the token of a link that signs in, and confirms the address if it is not
// yet.
func (s *Service) verifiedRecovery(ctx context.Context, tx pgx.Tx, u *store.User) error {
	if err := store.Recovery.Clear(ctx, tx, u, s.Now()); err != nil {
		return err
	}
	if err := store.DeleteTokens(ctx, tx, u.ID); err != nil {
		return err
	}
	if u.Confirmed() {
		return s.Store.Audit(ctx, tx, u, "login", nil)
	}
	if u.PhoneConfirmed() { // the account belongs to the holder of its number
		return errLink
	}
	if err := s.Store.Audit(ctx, tx, u, "user_signedup", map[string]any{"provider": "email"}); err != nil {
		return err
	}
	if err := s.Store.Disown(ctx, tx, u, s.Config.MailerAutoconfirm); err != nil {
		return err
	}
	return store.ConfirmEmail(ctx, tx, u, s.Now())
}

// verifiedEmailChange changes the address. half: the other address must confirm first.
func (s *Service) verifiedEmailChange(r *http.Request, tx message.Tx, u *store.User, hash string) (half bool,
	err error) {
	ctx, now := r.Context(), s.Now()
	if !s.Config.MailerAutoconfirm && !s.Config.SingleConfirmation && u.EmailChangeConfirmStatus == 0 && u.Email != "" {
		used := store.EmailChangeNew
		if store.EmailChangeCurrent.Matches(u, strings.TrimPrefix(hash, store.PKCEPrefix), s.Sender.LinkExpiry(), now) {
			used = store.EmailChangeCurrent
		}
		if err := used.Clear(ctx, tx, u, now); err != nil {
			return false, err
		}
		u.EmailChangeConfirmStatus = 1
		return true, store.SetColumn(ctx, tx, u, "email_change_confirm_status", 1, now)
	}
	if err := s.Store.Audit(ctx, tx, u, "user_modified", nil); err != nil {
		return false, err
	}
	old := u.Email
	if err := s.Store.ChangeEmail(ctx, tx, u, u.EmailChange); err != nil {
		return false, err
	}
	if old != "" {
		s.Sender.Notify(r, tx, u, template.EmailChanged, old, template.Data{OldEmail: old})
	}
	return false, nil
}

// verifiedPhone confirms a number, or changes it.
func (s *Service) verifiedPhone(r *http.Request, tx message.Tx, u *store.User, p verifyParams) error {
	ctx, now := r.Context(), s.Now()
	if p.Type == "sms" {
		if err := s.Store.Audit(ctx, tx, u, "user_signedup", map[string]any{"provider": "phone"}); err != nil {
			return err
		}
		return store.ConfirmPhone(ctx, tx, u, now)
	}
	if err := s.Store.Audit(ctx, tx, u, "user_modified", nil); err != nil {
		return err
	}
	old := u.Phone
	if err := s.Store.ChangePhone(ctx, tx, u, p.Phone); err != nil {
		return err
	}
	if old != "" && old != u.Phone {
		s.Sender.Notify(r, tx, u, template.PhoneChanged, "", template.Data{OldPhone: old})
	}
	return nil
}
