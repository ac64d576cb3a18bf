package admin

import (
	"context"
	"errors"
	"net/http"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/engine/auth/endpoint"
	"daawo/supabase/internal/engine/auth/message"
	"daawo/supabase/internal/engine/auth/message/template"
	"daawo/supabase/internal/engine/auth/password"
	"daawo/supabase/internal/engine/auth/store"
)

// signupParams is the body of POST /invite. It has the members of a sign-up, whose types are
// checked, although only email and data are used.
type signupParams struct {
	Email           string         `json:"email"`
	Phone           string         `json:"phone"`
	Password        string         `json:"password"`
	Data            map[string]any `json:"data"`
	Channel         string         `json:"channel"`
	Challenge       string         `json:"code_challenge"`
	ChallengeMethod string         `json:"code_challenge_method"`
}

// Invite serves POST /invite: it makes an account and mails a link to it.
func (s *Service) Invite(w http.ResponseWriter, r *http.Request, admin *store.User) error {
	var p signupParams
	if err := endpoint.ReadEmail(r, &p, &p.Email); err != nil {
		return err
	}
	ctx := r.Context()
	u, err := s.userToInvite(r, p)
	if err != nil {
		return err
	}
	fresh := u.Identities == nil
	_, err = message.Queued(ctx, s.Sender, s.Sender.MailQueue(), func(tx message.Tx) (any, error) {
		if fresh {
			if err := s.storeInvited(ctx, tx, u); err != nil {
				return nil, err
			}
		} else if err := reopen(ctx, tx, s, u); err != nil {
			return nil, err
		}
		if err := s.Store.Audit(ctx, tx, admin, "user_invited",
			map[string]any{"user_id": u.ID, "user_email": u.Email}); err != nil {
			return nil, err
		}
		if err := s.Sender.SendLink(r, tx, u, store.Confirmation, template.Invite, "invite", false); err != nil {
			return nil, err
		}
		return nil, s.markInvited(ctx, tx, u)
	})
	if err != nil {
		return err
	}
	if fresh {
		if err := s.Hooks.AfterUserCreated(r, u); err != nil {
			return err
		}
	}
	return endpoint.SendJSON(w, http.StatusOK, u)
}

// userToInvite returns the unconfirmed account of an address, or a new one without identities,
// which is not stored yet.
func (s *Service) userToInvite(r *http.Request, p signupParams) (*store.User, error) {
	u, err := store.UserByEmail(r.Context(), s.DB.Pgx(), p.Email, s.Sessions.Audience(r, nil))
	switch {
	case err == nil && u.Confirmed():
		return nil, store.ErrEmailExists
	case err == nil:
		return u, nil
	case !errors.Is(err, store.ErrNotFound):
		return nil, err
	}
	u = s.Store.NewUser(p.Email, "", p.Data, "", s.Sessions.Audience(r, nil))
	u.Identities = nil
	return u, s.Hooks.BeforeUserCreated(r, nil, u)
}

// storeInvited stores a new account with the identity of its address.
func (s *Service) storeInvited(ctx context.Context, tx pgx.Tx, u *store.User) error {
	if err := store.StoreUser(ctx, tx, u); err != nil {
		return err
	}
	return store.InsertIdentity(ctx, tx, u, "email", store.ContactData(u, nil), s.Now())
}

// reopen prepares an unconfirmed account for another invitation, which an administrator may send at
// once. It removes what a stranger may have stored in the account.
func reopen(ctx context.Context, tx pgx.Tx, s *Service, u *store.User) error {
	if err := store.ReloadUser(ctx, tx, u); errors.Is(err, store.ErrNotFound) {
		return errNoUser
	} else if err != nil {
		return err
	}
	if u.Confirmed() || u.PhoneConfirmed() {
		return store.ErrEmailExists
	}
	if err := store.SetColumn(ctx, tx, u, "confirmation_sent_at", nil, s.Now()); err != nil {
		return err
	}
	return s.Store.Disown(ctx, tx, u, s.Config.MailerAutoconfirm)
}

// markInvited stores the time of the invitation.
func (s *Service) markInvited(ctx context.Context, tx pgx.Tx, u *store.User) error {
	now := s.Now()
	u.InvitedAt = &now
	return store.SetColumn(ctx, tx, u, "invited_at", now, now)
}

// linkReply is the reply of GenerateLink.
type linkReply struct {
	*store.User
	ActionLink       string `json:"action_link"`
	Code             string `json:"email_otp"`
	HashedToken      string `json:"hashed_token"`
	VerificationType string `json:"verification_type"`
	RedirectTo       string `json:"redirect_to"`
}

// linkParams is the body of POST /admin/generate_link.
type linkParams struct {
	Type       string         `json:"type"`
	Email      string         `json:"email"`
	NewEmail   string         `json:"new_email"`
	Password   string         `json:"password"`
	Data       map[string]any `json:"data"`
	RedirectTo string         `json:"redirect_to"`
}

// GenerateLink serves POST /admin/generate_link: it makes a link and replies with it instead of
// mailing it.
func (s *Service) GenerateLink(w http.ResponseWriter, r *http.Request, admin *store.User) error {
	var p linkParams
	if err := endpoint.ReadEmail(r, &p, &p.Email); err != nil {
		return err
	}
	ctx := r.Context()
	redirect := s.Sender.RedirectTo(r)
	if s.Redirects.Allows(p.RedirectTo) {
		redirect = p.RedirectTo
	}
	u, err := store.UserByEmail(ctx, s.DB.Pgx(), p.Email, s.Sessions.Audience(r, nil))
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	fresh := u == nil
	if fresh {
		if u, err = s.userForLink(r, &p); err != nil {
			return err
		}
	}
	code := password.Code(s.Config.CodeLength)
	reply := linkReply{User: u, Code: code, HashedToken: store.HashCode(p.Email, code), VerificationType: p.Type,
		RedirectTo: redirect}
	_, err = store.InTx(ctx, s.DB, func(tx pgx.Tx) (any, error) {
		if fresh {
			if err := s.storeInvited(ctx, tx, u); err != nil {
				return nil, err
			}
		}
		return nil, s.saveLink(ctx, tx, u, admin, p, fresh, code)
	})
	if err != nil {
		return err
	}
	if fresh {
		if err := s.Hooks.AfterUserCreated(r, u); err != nil {
			return err
		}
	}
	action, hash := p.Type, reply.HashedToken
	switch p.Type {
	case "email_change_current":
		action = "email_change"
	case "email_change_new":
		action, hash = "email_change", u.EmailChangeTokenNew
	}
	reply.ActionLink = s.Sender.Link(r, action, hash, redirect)
	return endpoint.SendJSON(w, http.StatusOK, reply)
}

// userForLink returns a new account for a link to an unknown address. A magic link becomes a
// sign-up.
func (s *Service) userForLink(r *http.Request, p *linkParams) (*store.User, error) {
	hash := ""
	switch p.Type {
	case "magiclink":
		p.Type, p.Password = "signup", s.Passwords.Random()
		fallthrough
	case "signup":
		if p.Password == "" {
			return nil, apierror.Errorf(http.StatusBadRequest, "validation_failed", "Signup requires a valid password")
		}
		if err := s.Passwords.Check(r.Context(), p.Password); err != nil {
			return nil, err
		}
		var err error
		if hash, err = s.Passwords.Hash(r.Context(), p.Password); err != nil {
			return nil, err
		}
	case "invite":
	case "recovery", "email_change_current", "email_change_new":
		return nil, apierror.Errorf(http.StatusNotFound, "user_not_found", "User with this email not found")
	default:
		return nil, badLinkType(p.Type)
	}
	u := s.Store.NewUser(p.Email, "", p.Data, hash, s.Sessions.Audience(r, nil))
	return u, s.Hooks.BeforeUserCreated(r, nil, u)
}

func badLinkType(kind string) error {
	return apierror.Errorf(http.StatusBadRequest, "validation_failed", "Invalid email action link type requested: %v",
		kind)
}

// saveLink stores the token of the link.
func (s *Service) saveLink(ctx context.Context, tx pgx.Tx, u, admin *store.User, p linkParams, fresh bool,
	code string) error {
	now := s.Now()
	switch p.Type {
	case "magiclink", "recovery":
		if err := s.Store.Audit(ctx, tx, u, "user_recovery_requested", nil); err != nil {
			return err
		}
		return store.Recovery.Save(ctx, tx, u, u.Email, store.HashCode(p.Email, code), now)
	case "invite", "signup":
		if u.Confirmed() {
			return store.ErrEmailExists
		}
		if p.Type == "invite" {
			if err := s.Store.Audit(ctx, tx, admin, "user_invited",
				map[string]any{"user_id": u.ID, "user_email": u.Email}); err != nil {
				return err
			}
			if !fresh {
				if err := reopen(ctx, tx, s, u); err != nil {
					return err
				}
			}
			if err := s.markInvited(ctx, tx, u); err != nil {
				return err
			}
		} else if !fresh && p.Data != nil {
			if err := store.SaveUserMetadata(ctx, tx, u, u.UserMetadata.Merge(p.Data), now); err != nil {
				return err
			}
		}
		return store.Confirmation.Save(ctx, tx, u, u.Email, store.HashCode(p.Email, code), now)
	case "email_change_current", "email_change_new":
		return s.saveChangeLink(ctx, tx, u, p, code)
	}
	return badLinkType(p.Type)
}

// saveChangeLink stores a new address and the token of a link that confirms it.
func (s *Service) saveChangeLink(ctx context.Context, tx pgx.Tx, u *store.User, p linkParams, code string) error {
	if s.Config.SingleConfirmation && p.Type == "email_change_current" {
		return apierror.Errorf(http.StatusBadRequest, "validation_failed",
			"Enable secure email change to generate link for current email")
	}
	address, err := endpoint.ValidEmail(p.NewEmail)
	if err != nil {
		return err
	}
	if taken, err := store.EmailTaken(ctx, tx, address, u); err != nil {
		return err
	} else if taken || address == u.Email {
		return store.ErrEmailExists
	}
	now := s.Now()
	if err := store.BeginEmailChange(ctx, tx, u, address, now); err != nil {
		return err
	}
	if p.Type == "email_change_current" {
		return store.EmailChangeCurrent.Save(ctx, tx, u, u.Email, store.HashCode(p.Email, code), now)
	}
	return store.EmailChangeNew.Save(ctx, tx, u, address, store.HashCode(address, code), now)
}
