package auth

import (
	"errors"
	"net/http"
	"strings"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/wire"
)

var errInvalidLogin = wire.Errorf(http.StatusBadRequest, "invalid_credentials", "Invalid login credentials")

// token answers POST /token by its grant_type.
func (e *Engine) token(w http.ResponseWriter, r *http.Request) error {
	switch r.URL.Query().Get("grant_type") {
	case "password":
		return e.passwordGrant(w, r)
	case "refresh_token":
		return e.refreshGrant(w, r)
	}
	return wire.Errorf(http.StatusBadRequest, "invalid_credentials", "unsupported_grant_type")
}

// passwordGrant signs in with an address or a number and a password. Who does not exist and who has another password are
// answered alike.
func (e *Engine) passwordGrant(w http.ResponseWriter, r *http.Request) error {
	var p struct {
		Email    string `json:"email"`
		Phone    string `json:"phone"`
		Password string `json:"password"`
	}
	if err := readJSON(r, &p); err != nil {
		return err
	}
	ctx := r.Context()
	u, provider, err := e.findLogin(r, p.Email, p.Phone)
	if err != nil {
		return err
	}
	if !u.HasPassword() {
		return errInvalidLogin
	}
	if u.banned(e.now()) {
		return wire.Errorf(http.StatusBadRequest, "user_banned", "User is banned")
	}
	ok, err := e.matches(ctx, u, p.Password)
	if err != nil {
		return err
	}
	if !ok {
		return errInvalidLogin
	}
	if provider == "email" && !u.Confirmed() {
		return wire.Errorf(http.StatusBadRequest, "email_not_confirmed", "Email not confirmed")
	}
	if provider == "phone" && !u.PhoneConfirmed() {
		return wire.Errorf(http.StatusBadRequest, "phone_not_confirmed", "Phone not confirmed")
	}
	reply, err := inTx(ctx, e, func(tx pgx.Tx) (*tokenReply, error) {
		if err := e.audit(ctx, tx, u, "login", map[string]any{"provider": provider}); err != nil {
			return nil, err
		}
		return e.signIn(ctx, tx, w.Header(), u, "password", clientOf(r))
	})
	if err != nil {
		return err
	}
	// An old password may be weaker than today's rules: the client is told, and let in.
	reply.WeakPassword = e.weakness(p.Password)
	return send(w, http.StatusOK, reply)
}

// findLogin finds the account that an address or a number names.
func (e *Engine) findLogin(r *http.Request, email, phone string) (u *User, provider string, err error) {
	ctx, aud := r.Context(), e.audience(r, nil)
	switch {
	case email != "" && phone != "":
		return nil, "", wire.Errorf(http.StatusBadRequest, "validation_failed", "Only an email address or phone number should be provided on login.")
	case email != "":
		if e.config.DisableEmail {
			return nil, "", wire.Errorf(http.StatusUnprocessableEntity, "email_provider_disabled", "Email logins are disabled")
		}
		provider = "email"
		u, err = userByEmail(ctx, e.db.Pgx(), email, aud)
	case phone != "":
		if !e.config.EnablePhone {
			return nil, "", wire.Errorf(http.StatusUnprocessableEntity, "phone_provider_disabled", "Phone logins are disabled")
		}
		provider = "phone"
		u, err = userByPhone(ctx, e.db.Pgx(), strings.TrimPrefix(strings.ReplaceAll(phone, " ", ""), "+"), aud)
	default:
		return nil, "", wire.Errorf(http.StatusBadRequest, "validation_failed", "missing email or phone")
	}
	if errors.Is(err, errNotFound) {
		return nil, "", errInvalidLogin
	}
	return u, provider, err
}
