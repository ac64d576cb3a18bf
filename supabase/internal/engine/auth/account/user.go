package account

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/engine/auth/endpoint"
	"daawo/supabase/internal/engine/auth/message"
	"daawo/supabase/internal/engine/auth/message/template"
	"daawo/supabase/internal/engine/auth/ratelimit"
	"daawo/supabase/internal/engine/auth/session"
	"daawo/supabase/internal/engine/auth/store"
)

// GetUser serves GET /user.
func (s *Service) GetUser(w http.ResponseWriter, r *http.Request, c *session.Caller) error {
	if len(c.Claims.Audience) == 0 || s.Sessions.Audience(r, c.Claims) != c.Claims.Audience[0] {
		return apierror.Errorf(http.StatusBadRequest, "validation_failed",
			"Token audience doesn't match request audience")
	}
	return endpoint.SendJSON(w, http.StatusOK, c.User)
}

// userChanges is the body of PUT /user.
type userChanges struct {
	Email           string         `json:"email"`
	Phone           string         `json:"phone"`
	Password        *string        `json:"password"`
	CurrentPassword *string        `json:"current_password"`
	Nonce           string         `json:"nonce"`
	Data            map[string]any `json:"data"`
	AppData         map[string]any `json:"app_metadata"`
	Channel         string         `json:"channel"`
	Challenge       string         `json:"code_challenge"`
	ChallengeMethod string         `json:"code_challenge_method"`
}

// UpdateUser serves PUT /user.
func (s *Service) UpdateUser(w http.ResponseWriter, r *http.Request, c *session.Caller) error {
	var p userChanges
	if err := endpoint.ReadJSON(r, &p); err != nil {
		return err
	}
	ctx, u := r.Context(), c.User
	if err := s.checkChanges(ctx, c, &p); err != nil {
		return err
	}
	hash := ""
	if p.Password != nil {
		var err error
		if hash, err = s.newPassword(ctx, c, p); err != nil {
			return err
		}
	}
	checked := u.EncryptedPassword
	_, err := message.Queued(ctx, s.Sender, s.updateQueue(u, &p), func(tx message.Tx) (any, error) {
		if err := s.Sessions.Reauthorize(ctx, tx, c); err != nil {
			return nil, err
		}
		if hash != "" {
			if u.HasPassword() && !u.HasPasswordHash(checked) {
				return nil, apierror.Errorf(http.StatusConflict, "conflict",
					"The password was changed by another request")
			}
			if err := s.changePassword(r, tx, c, hash); err != nil {
				return nil, err
			}
		}
		if p.Data != nil {
			if err := store.SaveUserMetadata(ctx, tx, u, u.UserMetadata.Merge(p.Data), s.Now()); err != nil {
				return nil, err
			}
		}
		if err := s.changeContacts(r, tx, u, p); err != nil {
			return nil, err
		}
		return nil, s.Store.Audit(ctx, tx, u, "user_modified", nil)
	})
	if err != nil {
		return err
	}
	return endpoint.SendJSON(w, http.StatusOK, u)
}

// changePassword stores the hash of a new password and ends the user's other sessions.
func (s *Service) changePassword(r *http.Request, tx message.Tx, c *session.Caller, hash string) error {
	ctx, u := r.Context(), c.User
	var keep *uuid.UUID
	if c.Session != nil {
		keep = &c.Session.ID
	}
	if err := store.ChangePassword(ctx, tx, u, hash, keep, s.Now()); err != nil {
		return err
	}
	if err := s.Store.Audit(ctx, tx, u, "user_updated_password", nil); err != nil {
		return err
	}
	s.Sender.Notify(r, tx, u, template.PasswordChanged, "", template.Data{})
	return nil
}

// changeContacts begins the change of an address or number. The change takes place once the new
// contact is confirmed, also if sign-up needs no confirmation. An anonymous user's first address
// and, with autoconfirm, any number change at once.
func (s *Service) changeContacts(r *http.Request, tx message.Tx, u *store.User, p userChanges) error {
	ctx := r.Context()
	if p.newEmail(u) {
		if u.IsAnonymous && s.Config.MailerAutoconfirm {
			if err := s.Store.ChangeEmail(ctx, tx, u, p.Email); err != nil {
				return err
			}
		} else {
			if p.Challenge != "" {
				f := store.Flow{Provider: "email_change", Method: "email_change", Challenge: p.Challenge,
					ChallengeMethod: p.ChallengeMethod, UserID: &u.ID}
				if err := s.Store.NewFlow(ctx, tx, f); err != nil {
					return err
				}
			}
			if err := s.Sender.SendEmailChange(r, tx, u, p.Email, p.Challenge != ""); err != nil {
				return err
			}
		}
	}
	if !p.newPhone(u) {
		return nil
	}
	if s.Config.PhoneAutoconfirm {
		return s.Store.ChangePhone(ctx, tx, u, p.Phone)
	}
	p.Channel = cmp.Or(p.Channel, "sms")
	_, err := s.Sender.SendPhoneCode(r, tx, u, store.PhoneChange, p.Phone, p.Channel)
	return err
}

// checkChanges validates a change of an account. It brings address and number into their stored
// form.
func (s *Service) checkChanges(ctx context.Context, c *session.Caller, p *userChanges) error {
	if err := s.checkForm(p); err != nil {
		return err
	}
	if p.Password != nil {
		if err := s.Passwords.Check(ctx, *p.Password); err != nil {
			return err
		}
	}
	newEmail, newPhone := p.newEmail(c.User), p.newPhone(c.User)
	if err := p.checkAllowed(c); err != nil {
		return err
	}
	if newEmail {
		if taken, err := store.EmailTaken(ctx, s.DB.Pgx(), p.Email, c.User); err != nil {
			return err
		} else if taken {
			return store.ErrEmailExists
		}
	}
	if newPhone {
		if taken, err := store.PhoneTaken(ctx, s.DB.Pgx(), p.Phone); err != nil {
			return err
		} else if taken {
			return store.ErrPhoneExists
		}
	}
	if p.Challenge == "" { // as in GoTrue, a method alone asks for nothing
		return nil
	}
	return endpoint.CheckChallenge(p.ChallengeMethod, p.Challenge)
}

// checkForm validates the members without reading the account.
func (s *Service) checkForm(p *userChanges) (err error) {
	if p.Email != "" {
		if p.Email, err = endpoint.ValidEmail(p.Email); err != nil {
			return err
		}
	}
	if p.Phone != "" {
		if p.Phone, err = endpoint.ValidPhone(p.Phone); err != nil {
			return err
		}
		if err := s.Sender.CheckChannel(p.Channel); err != nil {
			return err
		}
	}
	return nil
}

// checkAllowed returns an error if the kind of account or session does not allow the change.
func (p *userChanges) checkAllowed(c *session.Caller) error {
	u := c.User
	newPassword := p.Password != nil && *p.Password != ""
	contact := p.newEmail(u) || p.newPhone(u)
	switch {
	case p.AppData != nil:
		return apierror.Errorf(http.StatusForbidden, "not_admin", "Updating app_metadata requires admin privileges")
	case u.HasVerifiedFactor() && (c.Session == nil || c.Session.AAL != "aal2") && (newPassword || contact):
		return apierror.Errorf(http.StatusUnauthorized, "insufficient_aal",
			"AAL2 session is required to update email or password when MFA is enabled.")
	case u.IsAnonymous && newPassword && p.Email == "" && p.Phone == "":
		return apierror.Errorf(http.StatusUnprocessableEntity, "validation_failed",
			"Updating password of an anonymous user without an email or phone is not allowed")
	case u.IsSSO && (newPassword || contact || p.Nonce != ""):
		return apierror.Errorf(http.StatusUnprocessableEntity, "user_sso_managed",
			"Updating email, phone, password of a SSO account only possible via SSO")
	}
	return nil
}

// newEmail reports whether the address changes.
func (p *userChanges) newEmail(u *store.User) bool { return p.Email != "" && p.Email != u.Email }

// newPhone reports whether the number changes.
func (p *userChanges) newPhone(u *store.User) bool { return p.Phone != "" && p.Phone != u.Phone }

// newPassword checks that the caller may set the password and returns its hash; "" for an empty
// password.
func (s *Service) newPassword(ctx context.Context, c *session.Caller, p userChanges) (string, error) {
	u := c.User
	if s.Config.RequireReauth && (c.Session == nil || s.Now().After(c.Session.CreatedAt.Add(24*time.Hour))) {
		if p.Nonce == "" {
			return "", apierror.Errorf(http.StatusBadRequest, "reauthentication_needed",
				"Password update requires reauthentication")
		}
		if err := s.Limiter.LimitSubject(ctx, ratelimit.Verify, u.ID.String()); err != nil {
			return "", err
		}
		if err := s.checkNonce(ctx, u, p.Nonce); err != nil {
			return "", err
		}
	}
	if *p.Password == "" {
		return "", nil
	}
	if u.HasPassword() {
		if err := s.checkCurrent(ctx, c, p.CurrentPassword); err != nil {
			return "", err
		}
		same, err := s.Passwords.MatchesUser(ctx, u, *p.Password)
		if err != nil {
			return "", err
		}
		if same {
			return "", apierror.Errorf(http.StatusUnprocessableEntity, "same_password",
				"New password should be different from the old password.")
		}
	}
	return s.Passwords.Hash(ctx, *p.Password)
}

// checkCurrent checks the current password, if the configuration requires it for a new one. A
// session that began by a link or code needs none, because its user may have forgotten the
// password.
func (s *Service) checkCurrent(ctx context.Context, c *session.Caller, current *string) error {
	if !s.Config.RequireCurrent {
		return nil
	}
	if c.Session != nil {
		methods, err := store.FindMethods(ctx, s.DB.Pgx(), c.Session.ID)
		if err != nil || methods.BeganByLink() {
			return err
		}
	}
	if current == nil || *current == "" {
		return apierror.Errorf(http.StatusBadRequest, "current_password_required",
			"Current password required when setting new password.")
	}
	ok, err := s.Passwords.MatchesUser(ctx, c.User, *current)
	if err != nil {
		return err
	}
	if !ok {
		return apierror.Errorf(http.StatusBadRequest, "current_password_invalid",
			"Current password required when setting new password.")
	}
	return nil
}

// Logout serves POST /logout: it ends all sessions of the user, the current one, or the others. An
// application ends its own. A session without the second factor ends none that has it.
func (s *Service) Logout(w http.ResponseWriter, r *http.Request, c *session.Caller) error {
	scope := r.URL.Query().Get("scope")
	switch scope {
	case "", "global", "local", "others":
	default:
		return apierror.Errorf(http.StatusBadRequest, "validation_failed", "Unsupported logout scope %q", scope)
	}
	ctx := r.Context()
	_, err := store.InTx(ctx, s.DB, func(tx pgx.Tx) (any, error) {
		if err := s.Store.Audit(ctx, tx, c.User, "logout", nil); err != nil {
			return nil, err
		}
		switch {
		case c.Session != nil && (scope == "local" || c.Session.ClientID != nil):
			return nil, store.EndSession(ctx, tx, c.Session.ID)
		case c.Session != nil:
			return nil, store.EndSessionsUpTo(ctx, tx, c.Session, scope != "others")
		}
		return nil, store.EndSessions(ctx, tx, c.User.ID)
	})
	if err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// updateQueue is the queue for the message of a change: the queue of text messages if it sends a
// mail as well.
func (s *Service) updateQueue(u *store.User, p *userChanges) message.Queue {
	switch {
	case p.newPhone(u) && !s.Config.PhoneAutoconfirm:
		return s.Sender.TextQueue()
	case p.newEmail(u):
		return s.Sender.MailQueue()
	case p.Password != nil:
		return s.Sender.NotificationQueue(template.PasswordChanged)
	}
	return nil
}
