package auth

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/auth/endpoint"
	"daawo/supabase/internal/auth/message"
	"daawo/supabase/internal/auth/message/template"
	"daawo/supabase/internal/auth/ratelimit"
	"daawo/supabase/internal/auth/session"
	"daawo/supabase/internal/auth/store"
	"daawo/supabase/internal/wire"
)

type verifyParams struct {
	Type       string `json:"type"`
	Token      string `json:"token"`
	TokenHash  string `json:"token_hash"`
	Email      string `json:"email"`
	Phone      string `json:"phone"`
	RedirectTo string `json:"redirect_to"`
}

// halfConfirmed is said when one of two addresses has agreed to a change.
const halfConfirmed = "Confirmation link accepted. Please proceed to confirm link sent to the other email"

var (
	errLink = wire.Errorf(http.StatusForbidden, "otp_expired", "Email link is invalid or has expired")
	errCode = wire.Errorf(http.StatusForbidden, "otp_expired", "Token has expired or is invalid")
)

// verifyGet answers a person who followed a link. Everything but a malformed link is answered by a redirect.
func (e *Engine) verifyGet(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	p := verifyParams{Type: q.Get("type"), TokenHash: q.Get("token"), RedirectTo: e.sender.RedirectTo(r)}
	switch {
	case p.Type == "":
		return wire.Errorf(http.StatusBadRequest, "validation_failed", "Verify requires a verification type")
	case p.TokenHash == "":
		return wire.Errorf(http.StatusBadRequest, "validation_failed", "Verify requires a token or a token hash")
	}
	pkce := strings.HasPrefix(p.TokenHash, store.PKCEPrefix)
	var reply *session.TokenReply
	var code string
	half, err := message.Queued(r.Context(), e.sender, e.sender.ChangeQueue(p.Type), func(tx message.Tx) (bool, error) {
		u, err := e.byLink(r.Context(), tx, &p)
		if err != nil {
			return false, err
		}
		half, err := e.verified(r, tx, u, p)
		if err != nil || half {
			return half, err
		}
		if pkce {
			code, err = e.issueCode(r.Context(), tx, u, flowMethod(p.Type))
			return false, err
		}
		reply, err = e.sessions.SignIn(r, tx, w.Header(), u, "otp")
		return false, err
	})
	target := p.RedirectTo
	switch {
	case err != nil:
		we, ok := wire.AsError(err)
		if !ok {
			e.log.ErrorContext(r.Context(), "a link could not be followed", "type", p.Type, "error", err)
			we = endpoint.ErrUnexpected
		}
		if target, err = errorRedirect(target, we, pkce); err != nil {
			return err
		}
	case half:
		target, err = messageRedirect(target, halfConfirmed, pkce)
	case pkce:
		target, err = endpoint.AddQuery(target, "code", code)
	default:
		target = session.TokenRedirect(target, reply, url.Values{"type": {p.Type}})
	}
	if err != nil {
		return err
	}
	http.Redirect(w, r, target, http.StatusSeeOther)
	return nil
}

// flowMethod is how a flow names a type of link.
func flowMethod(kind string) string {
	if strings.HasSuffix(kind, "signup") {
		return "email/signup"
	}
	return kind
}

// verifyPost answers a code, or a link's hash that the site itself sends.
func (e *Engine) verifyPost(w http.ResponseWriter, r *http.Request) error {
	var p verifyParams
	if err := endpoint.ReadJSON(r, &p); err != nil {
		return err
	}
	if err := p.check(); err != nil {
		return err
	}
	if p.Token != "" {
		if err := e.limiter.LimitSubject(r.Context(), ratelimit.Verify, p.Email+p.Phone); err != nil {
			return err
		}
	}
	var reply *session.TokenReply
	half, err := message.Queued(r.Context(), e.sender, e.sender.ChangeQueue(p.Type), func(tx message.Tx) (bool, error) {
		find := e.byCode
		if p.Token == "" {
			find = func(ctx context.Context, tx pgx.Tx, p *verifyParams, _ string) (*store.User, error) {
				return e.byLink(ctx, tx, p)
			}
		}
		u, err := find(r.Context(), tx, &p, e.sessions.Audience(r, nil))
		if err != nil {
			return false, err
		}
		half, err := e.verified(r, tx, u, p)
		if err != nil || half {
			return half, err
		}
		reply, err = e.sessions.SignIn(r, tx, w.Header(), u, "otp")
		return false, err
	})
	if err != nil {
		return err
	}
	if half {
		return endpoint.SendJSON(w, http.StatusOK, map[string]string{"msg": halfConfirmed, "code": "200"})
	}
	return endpoint.SendJSON(w, http.StatusOK, reply)
}

func (p *verifyParams) check() error {
	bad := func(text string) error { return wire.Errorf(http.StatusBadRequest, "validation_failed", "%s", text) }
	var err error
	switch {
	case p.Type == "":
		return bad("Verify requires a verification type")
	case (p.Token == "") == (p.TokenHash == ""):
		return bad("Verify requires either a token or a token hash")
	case p.Token == "":
		if p.Email != "" || p.Phone != "" || p.RedirectTo != "" {
			return bad("Only the token_hash and type should be provided")
		}
	case p.Phone != "" && p.Email == "":
		if p.Phone, err = endpoint.ValidPhone(p.Phone); err != nil {
			return err
		}
		p.TokenHash = store.HashCode(p.Phone, p.Token)
	case p.Email != "" && p.Phone == "":
		if p.Email, err = endpoint.ValidEmail(p.Email); err != nil {
			return wire.Errorf(http.StatusUnprocessableEntity, "validation_failed", "Invalid email format")
		}
		p.TokenHash = store.HashCode(p.Email, p.Token)
	default:
		return bad("Only an email address or phone number should be provided on verify")
	}
	return nil
}

// byLink finds who was sent a link, by its hash. Type email means whichever of the two that sign in it was.
func (e *Engine) byLink(ctx context.Context, tx pgx.Tx, p *verifyParams) (*store.User, error) {
	kinds := map[string][]store.OneTimeToken{
		"email": {store.Confirmation, store.Recovery}, "signup": {store.Confirmation}, "invite": {store.Confirmation},
		"recovery": {store.Recovery}, "magiclink": {store.Recovery}, "email_change": {store.EmailChangeCurrent, store.EmailChangeNew},
	}[p.Type]
	if kinds == nil {
		return nil, wire.Errorf(http.StatusBadRequest, "validation_failed", "Invalid email verification type")
	}
	u, err := store.LockUserByToken(ctx, tx, p.TokenHash, kinds...)
	if errors.Is(err, store.ErrNotFound) {
		return nil, errLink
	}
	if err != nil {
		return nil, err
	}
	if u.Banned(e.now()) {
		return nil, wire.Errorf(http.StatusForbidden, "user_banned", "User is banned")
	}
	if p.Type == "email" {
		p.Type, kinds = "signup", kinds[:1]
		if store.Equal(u.RecoveryToken, p.TokenHash) {
			p.Type, kinds = "magiclink", []store.OneTimeToken{store.Recovery}
		}
	}
	_, sentAt := kinds[0].Fields(u)
	if *sentAt == nil || e.now().After((*sentAt).Add(e.sender.LinkExpiry())) {
		return nil, errLink
	}
	return u, nil
}

// byCode finds who was sent a code. An unknown type is a wrong code, and so is an unknown person.
func (e *Engine) byCode(ctx context.Context, tx pgx.Tx, p *verifyParams, audience string) (*store.User, error) {
	var u *store.User
	var err error
	switch p.Type {
	case "phone_change":
		u, err = store.FindUser(ctx, tx, `where u.phone_change = $1 and u.aud = $2 and not u.is_sso_user`, p.Phone, audience)
	case "sms":
		u, err = store.UserByPhone(ctx, tx, p.Phone, audience)
	case "email_change":
		u, err = e.byChange(ctx, tx, p.TokenHash)
	default:
		u, err = store.UserByEmail(ctx, tx, p.Email, audience)
	}
	if errors.Is(err, store.ErrNotFound) {
		return nil, errCode
	}
	if err != nil {
		return nil, err
	}
	if err := store.LockUser(ctx, tx, u.ID); err != nil {
		return nil, err
	}
	if u, err = store.UserByID(ctx, tx, u.ID); errors.Is(err, store.ErrNotFound) {
		return nil, errCode
	} else if err != nil {
		return nil, err
	}
	if u.Banned(e.now()) {
		return nil, wire.Errorf(http.StatusForbidden, "user_banned", "User is banned")
	}
	if !e.codeFits(u, p) {
		return nil, errCode
	}
	return u, nil
}

func (e *Engine) byChange(ctx context.Context, tx pgx.Tx, hash string) (*store.User, error) {
	for _, h := range []string{hash, store.PKCEPrefix + hash} {
		if u, err := store.UserByToken(ctx, tx, h, store.EmailChangeCurrent, store.EmailChangeNew); !errors.Is(err, store.ErrNotFound) {
			return u, err
		}
	}
	return nil, store.ErrNotFound
}

func (e *Engine) codeFits(u *store.User, p *verifyParams) bool {
	fits := func(life time.Duration, kinds ...store.OneTimeToken) bool {
		for _, k := range kinds {
			if k.Matches(u, p.TokenHash, life, e.now()) {
				return true
			}
		}
		return false
	}
	switch p.Type {
	case "email":
		if fits(e.sender.LinkExpiry(), store.Confirmation) {
			p.Type = "signup"
			return true
		}
		p.Type = "magiclink"
		return fits(e.sender.LinkExpiry(), store.Recovery)
	case "signup", "invite":
		return fits(e.sender.LinkExpiry(), store.Confirmation)
	case "recovery", "magiclink":
		return fits(e.sender.LinkExpiry(), store.Recovery)
	case "email_change":
		return fits(e.sender.LinkExpiry(), store.EmailChangeCurrent, store.EmailChangeNew)
	case "sms", "phone_change":
		if test, ok := e.sender.TestCode(p.Phone); ok && store.Equal(test, p.Token) {
			return true
		}
		if p.Type == "sms" {
			return fits(e.config.SMS.CodeExpiry, store.Confirmation)
		}
		return fits(e.config.SMS.CodeExpiry, store.PhoneChange)
	}
	return false
}

// verified does what the proof was sent for. half says that another address must agree, too.
func (e *Engine) verified(r *http.Request, tx message.Tx, u *store.User, p verifyParams) (half bool, err error) {
	ctx := r.Context()
	switch p.Type {
	case "signup", "invite":
		err = e.verifiedSignup(ctx, tx, u)
	case "recovery", "magiclink":
		err = e.verifiedRecovery(ctx, tx, u)
	case "email_change":
		half, err = e.verifiedEmailChange(r, tx, u, p.TokenHash)
	case "sms", "phone_change":
		err = e.verifiedPhone(r, tx, u, p)
	default:
		err = wire.Errorf(http.StatusBadRequest, "validation_failed", "Unsupported verification type")
	}
	if err != nil || half {
		return half, err
	}
	if err := store.SaveProviders(ctx, tx, u, e.now()); err != nil {
		return false, err
	}
	fresh, err := store.UserByID(ctx, tx, u.ID) // the table generates columns
	if err != nil {
		return false, err
	}
	*u = *fresh
	return false, nil
}

func (e *Engine) verifiedSignup(ctx context.Context, tx pgx.Tx, u *store.User) error {
	if !u.HasPassword() && u.InvitedAt != nil {
		// The invited person chooses a password once they are in; until then nobody knows it.
		hash, err := e.passwords.Hash(ctx, e.passwords.Random())
		if err != nil {
			return err
		}
		if err := store.SavePassword(ctx, tx, u, hash, nil, e.now()); err != nil {
			return err
		}
	}
	if err := e.store.Audit(ctx, tx, u, "user_signedup", map[string]any{"provider": "email"}); err != nil {
		return err
	}
	if err := store.ConfirmEmail(ctx, tx, u, e.now()); err != nil {
		return err
	}
	for i := range u.Identities {
		id := &u.Identities[i]
		if id.Email == "" || id.Email != u.Email {
			continue
		}
		if err := store.SaveIdentityData(ctx, tx, id, id.Data.Merge(store.Metadata{"email_verified": true}), e.now()); err != nil {
			return err
		}
	}
	return nil
}

func (e *Engine) verifiedRecovery(ctx context.Context, tx pgx.Tx, u *store.User) error {
	if err := store.Recovery.Clear(ctx, tx, u, e.now()); err != nil {
		return err
	}
	if err := store.DeleteTokens(ctx, tx, u.ID); err != nil {
		return err
	}
	if u.Confirmed() {
		return e.store.Audit(ctx, tx, u, "login", nil)
	}
	if err := e.store.Audit(ctx, tx, u, "user_signedup", map[string]any{"provider": "email"}); err != nil {
		return err
	}
	if !u.PhoneConfirmed() {
		// A provider may have brought somebody else here, who would come in with them.
		if !u.HasIdentity("email") {
			if err := store.SavePassword(ctx, tx, u, "", nil, e.now()); err != nil {
				return err
			}
		}
		if err := e.keepContact(ctx, tx, u, "email", nil); err != nil {
			return err
		}
	}
	return store.ConfirmEmail(ctx, tx, u, e.now())
}

// verifiedEmailChange changes the address, once both have agreed where both must.
func (e *Engine) verifiedEmailChange(r *http.Request, tx message.Tx, u *store.User, hash string) (half bool, err error) {
	ctx, now := r.Context(), e.now()
	if !e.config.MailerAutoconfirm && !e.config.Mail.SingleConfirmation && u.EmailChangeConfirmStatus == 0 && u.Email != "" {
		used := store.EmailChangeNew
		if store.EmailChangeCurrent.Matches(u, strings.TrimPrefix(hash, store.PKCEPrefix), e.sender.LinkExpiry(), now) {
			used = store.EmailChangeCurrent
		}
		if err := used.Clear(ctx, tx, u, now); err != nil {
			return false, err
		}
		u.EmailChangeConfirmStatus = 1
		return true, store.SetColumn(ctx, tx, u, "email_change_confirm_status", 1, now)
	}
	if err := e.store.Audit(ctx, tx, u, "user_modified", nil); err != nil {
		return false, err
	}
	old := u.Email
	if err := e.changeEmail(ctx, tx, u, u.EmailChange); err != nil {
		return false, err
	}
	if old != "" {
		e.sender.Notify(r, tx, u, template.EmailChanged, old, template.Data{OldEmail: old})
	}
	return false, nil
}

// changeEmail gives the account a confirmed address.
func (e *Engine) changeEmail(ctx context.Context, tx pgx.Tx, u *store.User, address string) error {
	now := e.now()
	if err := store.SaveContactIdentity(ctx, tx, u, "email", address, true, now); err != nil {
		return err
	}
	u.Email, u.EmailChange, u.EmailChangeTokenCurrent, u.EmailChangeTokenNew, u.EmailChangeConfirmStatus, u.IsAnonymous = address, "", "", "", 0, false
	if _, err := tx.Exec(ctx, `
		update auth.users
		   set email = $2, email_change = '', email_change_token_current = '', email_change_token_new = '',
		       email_change_confirm_status = 0, is_anonymous = false, updated_at = $3
		 where id = $1`, u.ID, address, now); err != nil {
		return store.DuplicateContact(err, store.ErrEmailExists)
	}
	if err := store.DeleteTokens(ctx, tx, u.ID); err != nil {
		return err
	}
	if !u.Confirmed() {
		return store.ConfirmEmail(ctx, tx, u, now)
	}
	return nil
}

// verifiedPhone confirms a number, or changes it.
func (e *Engine) verifiedPhone(r *http.Request, tx message.Tx, u *store.User, p verifyParams) error {
	ctx, now := r.Context(), e.now()
	if p.Type == "sms" {
		if err := e.store.Audit(ctx, tx, u, "user_signedup", map[string]any{"provider": "phone"}); err != nil {
			return err
		}
		if err := store.ConfirmPhone(ctx, tx, u, now); err != nil || !u.IsAnonymous {
			return err
		}
		u.IsAnonymous = false
		return store.SetColumn(ctx, tx, u, "is_anonymous", false, now)
	}
	if err := e.store.Audit(ctx, tx, u, "user_modified", nil); err != nil {
		return err
	}
	old := u.Phone
	if err := e.changePhone(ctx, tx, u, p.Phone); err != nil {
		return err
	}
	if old != "" && old != u.Phone {
		e.sender.Notify(r, tx, u, template.PhoneChanged, "", template.Data{OldPhone: old})
	}
	return nil
}

// changePhone gives the account a confirmed number.
func (e *Engine) changePhone(ctx context.Context, tx pgx.Tx, u *store.User, phone string) error {
	now := e.now()
	if err := store.SaveContactIdentity(ctx, tx, u, "phone", phone, true, now); err != nil {
		return err
	}
	u.Phone, u.PhoneChange, u.PhoneChangeToken, u.PhoneConfirmedAt, u.IsAnonymous = phone, "", "", &now, false
	if _, err := tx.Exec(ctx, `
		update auth.users set phone = $2, phone_change = '', phone_change_token = '', phone_confirmed_at = $3, is_anonymous = false,
		       updated_at = $3
		 where id = $1`, u.ID, phone, now); err != nil {
		return store.DuplicateContact(err, store.ErrPhoneExists)
	}
	return store.DeleteTokens(ctx, tx, u.ID)
}
