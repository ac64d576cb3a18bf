package login

import (
	"cmp"
	"errors"
	"net/http"
	"strings"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/engine/auth/endpoint"
	"daawo/supabase/internal/engine/auth/hookpoint"
	"daawo/supabase/internal/engine/auth/session"
	"daawo/supabase/internal/engine/auth/store"
)

var errInvalidLogin = apierror.Errorf(http.StatusBadRequest, "invalid_credentials", "Invalid login credentials")

// errPasswordChanged means that the password was changed after it had matched.
var errPasswordChanged = errors.New("the password was changed by another request")

// passwordReply is the reply to a sign-in with a password.
type passwordReply struct {
	*session.TokenReply
	WeakPassword *weakPassword `json:"weak_password"` // null if the password is strong enough
}

// weakPassword tells a client that the password breaks the rules of today.
type weakPassword struct {
	Message string   `json:"message,omitempty"`
	Reasons []string `json:"reasons,omitempty"`
}

// passwordGrant signs in with an address or a number and a password. Unknown accounts and wrong
// passwords get the same reply in the same time, also for a banned account.
func (s *Service) passwordGrant(w http.ResponseWriter, r *http.Request) error {
	var p struct {
		Email    string `json:"email"`
		Phone    string `json:"phone"`
		Password string `json:"password"`
	}
	if err := endpoint.ReadJSON(r, &p); err != nil {
		return err
	}
	for range 2 { // a concurrent login of the same user may have renewed an outdated hash
		reply, err := s.passwordLogin(r, w.Header(), p.Email, p.Phone, p.Password)
		if errors.Is(err, errPasswordChanged) {
			continue
		}
		if err != nil {
			return err
		}
		// An old password may be weaker than today's rules. The user is signed in, and the client
		// is told.
		answer := passwordReply{TokenReply: reply}
		if weak := s.Passwords.Weakness(r.Context(), p.Password); weak != nil {
			answer.WeakPassword = &weakPassword{Message: weak.Message, Reasons: weak.Reasons}
		}
		return endpoint.SendJSON(w, http.StatusOK, answer)
	}
	return errInvalidLogin
}

// passwordLogin returns errPasswordChanged if the password was changed while it was checked.
func (s *Service) passwordLogin(r *http.Request, headers http.Header, email, phone,
	password string) (*session.TokenReply, error) {
	ctx := r.Context()
	u, provider, err := s.findLogin(r, email, phone)
	if err != nil {
		return nil, err
	}
	if err := s.checkLogin(r, u, provider, password); err != nil {
		return nil, err
	}
	renewed := "" // hash
	if s.Passwords.Outdated(*u.EncryptedPassword) {
		if renewed, err = s.Passwords.Hash(ctx, password); err != nil {
			return nil, err
		}
	}
	return store.InTx(ctx, s.DB, func(tx pgx.Tx) (*session.TokenReply, error) {
		// Hashing may have waited for its turn: the password that matched may be the old one now.
		matched := u.EncryptedPassword
		if err := store.ReloadUser(ctx, tx, u); errors.Is(err, store.ErrNotFound) {
			return nil, errInvalidLogin
		} else if err != nil {
			return nil, err
		}
		switch {
		case !u.HasPasswordHash(matched):
			return nil, errPasswordChanged
		case u.Banned(s.Now()):
			return nil, session.ErrBanned
		}
		if renewed != "" {
			if err := store.SetColumn(ctx, tx, u, "encrypted_password", renewed, s.Now()); err != nil {
				return nil, err
			}
		}
		if err := s.Store.Audit(ctx, tx, u, "login", map[string]any{"provider": provider}); err != nil {
			return nil, err
		}
		return s.Sessions.SignIn(r, tx, headers, u, "password")
	})
}

// checkLogin checks the password of u, which is nil if there is no such account, and whether u may
// sign in.
func (s *Service) checkLogin(r *http.Request, u *store.User, provider, password string) error {
	if u == nil || !u.HasPassword() {
		if err := s.Passwords.MatchUnknown(r.Context(), password); err != nil {
			return err
		}
		return errInvalidLogin
	}
	ok, err := s.Passwords.MatchesUser(r.Context(), u, password)
	if err != nil {
		return err
	}
	if err := s.callPasswordHook(r, u, ok); err != nil {
		return err
	}
	switch {
	case !ok:
		return errInvalidLogin
	case u.Banned(s.Now()):
		return session.ErrBanned
	case provider == "email" && !u.Confirmed():
		return apierror.Errorf(http.StatusBadRequest, "email_not_confirmed", "Email not confirmed")
	case provider == "phone" && !u.PhoneConfirmed():
		return apierror.Errorf(http.StatusBadRequest, "phone_not_confirmed", "Phone not confirmed")
	}
	return nil
}

// findLogin returns the account of an address or a number; nil if there is none.
func (s *Service) findLogin(r *http.Request, email, phone string) (u *store.User, provider string, err error) {
	ctx, aud := r.Context(), s.Sessions.Audience(r, nil)
	switch {
	case email != "" && phone != "":
		return nil, "", apierror.Errorf(http.StatusBadRequest, "validation_failed",
			"Only an email address or phone number should be provided on login.")
	case email != "":
		if s.Config.DisableEmail {
			return nil, "", apierror.Errorf(http.StatusUnprocessableEntity, "email_provider_disabled",
				"Email logins are disabled")
		}
		provider = "email"
		u, err = store.UserByEmail(ctx, s.DB.Pgx(), email, aud)
	case phone != "":
		if !s.Config.EnablePhone {
			return nil, "", apierror.Errorf(http.StatusUnprocessableEntity, "phone_provider_disabled",
				"Phone logins are disabled")
		}
		provider = "phone"
		u, err = store.UserByPhone(ctx, s.DB.Pgx(), strings.TrimPrefix(strings.ReplaceAll(phone, " ", ""), "+"), aud)
	default:
		return nil, "", apierror.Errorf(http.StatusBadRequest, "validation_failed", "missing email or phone")
	}
	if errors.Is(err, store.ErrNotFound) {
		return nil, provider, nil
	}
	return u, provider, err
}

// callPasswordHook asks the hook whether the attempt is allowed. The hook may also end the user's
// sessions.
func (s *Service) callPasswordHook(r *http.Request, u *store.User, valid bool) error {
	h := s.Hooks.PasswordVerificationAttempt
	if !h.Enabled() {
		return nil
	}
	var v hookpoint.Verdict
	if err := s.Hooks.Call(r, nil, h, "password-verification", map[string]any{"user_id": u.ID, "valid": valid},
		&v); err != nil {
		return err
	}
	if !v.Rejected() {
		return nil
	}
	if v.Logout {
		_, err := store.InTx(r.Context(), s.DB, func(tx pgx.Tx) (any, error) {
			return nil, store.EndSessions(r.Context(), tx, u.ID)
		})
		if err != nil {
			return err
		}
	}
	return apierror.Errorf(http.StatusBadRequest, "invalid_credentials", "%s",
		cmp.Or(v.Message, "Further password verification attempts will be rejected."))
}
