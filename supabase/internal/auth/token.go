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
	grants := map[string]func(http.ResponseWriter, *http.Request) error{
		"password": e.passwordGrant, "refresh_token": e.refreshGrant, "pkce": e.pkceGrant, "id_token": e.idTokenGrant, "web3": e.web3Grant,
	}
	kind := r.FormValue("grant_type")
	grant, ok := grants[kind]
	if !ok {
		return wire.Errorf(http.StatusBadRequest, "invalid_credentials", "unsupported_grant_type")
	}
	if kind == "password" || kind == "web3" {
		if err := e.checkCaptcha(r); err != nil {
			return err
		}
	}
	if err := e.limit(r, limitToken); err != nil {
		return err
	}
	return grant(w, r)
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
	if err := e.passwordVerdict(r, u, ok); err != nil {
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
	fresh := ""
	if e.hasher.Outdated(*u.EncryptedPassword) {
		if fresh, err = e.hasher.Hash(ctx, p.Password); err != nil {
			return err
		}
	}
	reply, err := inTx(ctx, e, func(tx pgx.Tx) (*tokenReply, error) {
		if fresh != "" {
			if err := setColumn(ctx, tx, u, "encrypted_password", fresh, e.now()); err != nil {
				return nil, err
			}
		}
		if err := e.audit(ctx, tx, u, "login", map[string]any{"provider": provider}); err != nil {
			return nil, err
		}
		return e.signIn(r, tx, w.Header(), u, "password")
	})
	if err != nil {
		return err
	}
	// An old password may be weaker than today's rules: the client is told, and let in.
	reply.WeakPassword = e.weakness(p.Password)
	return send(w, http.StatusOK, reply)
}

// web3Grant answers as a GoTrue without wallets does.
func (e *Engine) web3Grant(_ http.ResponseWriter, r *http.Request) error {
	var p struct {
		Chain string `json:"chain"`
	}
	if err := readJSON(r, &p); err != nil {
		return err
	}
	switch p.Chain {
	case "solana", "ethereum":
		return wire.Errorf(http.StatusUnprocessableEntity, "web3_provider_disabled", "Web3 provider is disabled")
	}
	return wire.Errorf(http.StatusBadRequest, "web3_unsupported_chain", "Unsupported chain")
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
