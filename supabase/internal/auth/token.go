package auth

import (
	"errors"
	"net/http"
	"strings"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/auth/endpoint"
	"daawo/supabase/internal/auth/ratelimit"
	"daawo/supabase/internal/auth/session"
	"daawo/supabase/internal/auth/store"
	"daawo/supabase/internal/wire"
)

var (
	errInvalidLogin = wire.Errorf(http.StatusBadRequest, "invalid_credentials", "Invalid login credentials")
)

// token answers POST /token by its grant_type.
func (e *Engine) token(w http.ResponseWriter, r *http.Request) error {
	grants := map[string]func(http.ResponseWriter, *http.Request) error{
		"password": e.passwordGrant, "refresh_token": e.sessions.RefreshGrant, "pkce": e.external.PKCEGrant, "id_token": e.external.IDTokenGrant, "web3": web3Grant,
	}
	kind := r.FormValue("grant_type")
	grant, ok := grants[kind]
	if !ok {
		return wire.Errorf(http.StatusBadRequest, "invalid_credentials", "unsupported_grant_type")
	}
	if kind == "password" || kind == "web3" {
		if err := e.captcha.Check(r); err != nil {
			return err
		}
	}
	if err := e.limiter.Limit(r, ratelimit.Token); err != nil {
		return err
	}
	return grant(w, r)
}

// errOvertaken means that a login was overtaken by a change of the password that it had matched.
var errOvertaken = errors.New("the password was changed meanwhile")

// passwordGrant signs in with an address or a number and a password. Who does not exist and who has another password are
// answered alike, and as late. Only a banned account says what it is.
func (e *Engine) passwordGrant(w http.ResponseWriter, r *http.Request) error {
	var p struct {
		Email    string `json:"email"`
		Phone    string `json:"phone"`
		Password string `json:"password"`
	}
	if err := endpoint.ReadJSON(r, &p); err != nil {
		return err
	}
	for range 2 { // another login of the same person may have renewed an outdated hash
		reply, err := e.passwordLogin(r, w.Header(), p.Email, p.Phone, p.Password)
		if errors.Is(err, errOvertaken) {
			continue
		}
		if err != nil {
			return err
		}
		// An old password may be weaker than today's rules: the client is told, and let in.
		if weak := e.passwords.Weakness(p.Password); weak != nil {
			reply.WeakPassword = &session.WeakPassword{Message: weak.Message, Reasons: weak.Reasons}
		}
		return endpoint.SendJSON(w, http.StatusOK, reply)
	}
	return errInvalidLogin
}

func (e *Engine) passwordLogin(r *http.Request, headers http.Header, email, phone, password string) (*session.TokenReply, error) {
	ctx := r.Context()
	u, provider, err := e.findLogin(r, email, phone)
	if err != nil {
		return nil, err
	}
	if u == nil || !u.HasPassword() {
		if err := e.passwords.MatchUnknown(ctx, password); err != nil {
			return nil, err
		}
		return nil, errInvalidLogin
	}
	if u.Banned(e.now()) {
		return nil, session.ErrBanned
	}
	ok, err := e.passwords.MatchesUser(ctx, u, password)
	if err != nil {
		return nil, err
	}
	if err := e.passwordVerdict(r, u, ok); err != nil {
		return nil, err
	}
	if !ok {
		return nil, errInvalidLogin
	}
	if provider == "email" && !u.Confirmed() {
		return nil, wire.Errorf(http.StatusBadRequest, "email_not_confirmed", "Email not confirmed")
	}
	if provider == "phone" && !u.PhoneConfirmed() {
		return nil, wire.Errorf(http.StatusBadRequest, "phone_not_confirmed", "Phone not confirmed")
	}
	fresh := ""
	if e.passwords.Outdated(*u.EncryptedPassword) {
		if fresh, err = e.passwords.Hash(ctx, password); err != nil {
			return nil, err
		}
	}
	return store.InTx(ctx, e.db, func(tx pgx.Tx) (*session.TokenReply, error) {
		// Hashing has its queue: the password that was matched may be the old one by now.
		matched := u.EncryptedPassword
		if err := store.ReloadUser(ctx, tx, u); errors.Is(err, store.ErrNotFound) {
			return nil, errInvalidLogin
		} else if err != nil {
			return nil, err
		}
		switch {
		case !u.HasPasswordHash(matched):
			return nil, errOvertaken
		case u.Banned(e.now()):
			return nil, session.ErrBanned
		}
		if fresh != "" {
			if err := store.SetColumn(ctx, tx, u, "encrypted_password", fresh, e.now()); err != nil {
				return nil, err
			}
		}
		if err := e.store.Audit(ctx, tx, u, "login", map[string]any{"provider": provider}); err != nil {
			return nil, err
		}
		return e.sessions.SignIn(r, tx, headers, u, "password")
	})
}

// web3Grant answers as a GoTrue without wallets does.
func web3Grant(_ http.ResponseWriter, r *http.Request) error {
	var p struct {
		Chain string `json:"chain"`
	}
	if err := endpoint.ReadJSON(r, &p); err != nil {
		return err
	}
	switch p.Chain {
	case "solana", "ethereum":
		return wire.Errorf(http.StatusUnprocessableEntity, "web3_provider_disabled", "Web3 provider is disabled")
	}
	return wire.Errorf(http.StatusBadRequest, "web3_unsupported_chain", "Unsupported chain")
}

// findLogin finds the account that an address or a number names; nil when there is none.
func (e *Engine) findLogin(r *http.Request, email, phone string) (u *store.User, provider string, err error) {
	ctx, aud := r.Context(), e.sessions.Audience(r, nil)
	switch {
	case email != "" && phone != "":
		return nil, "", wire.Errorf(http.StatusBadRequest, "validation_failed", "Only an email address or phone number should be provided on login.")
	case email != "":
		if e.config.DisableEmail {
			return nil, "", wire.Errorf(http.StatusUnprocessableEntity, "email_provider_disabled", "Email logins are disabled")
		}
		provider = "email"
		u, err = store.UserByEmail(ctx, e.db.Pgx(), email, aud)
	case phone != "":
		if !e.config.EnablePhone {
			return nil, "", wire.Errorf(http.StatusUnprocessableEntity, "phone_provider_disabled", "Phone logins are disabled")
		}
		provider = "phone"
		u, err = store.UserByPhone(ctx, e.db.Pgx(), strings.TrimPrefix(strings.ReplaceAll(phone, " ", ""), "+"), aud)
	default:
		return nil, "", wire.Errorf(http.StatusBadRequest, "validation_failed", "missing email or phone")
	}
	if errors.Is(err, store.ErrNotFound) {
		return nil, provider, nil
	}
	return u, provider, err
}
