package verify

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/engine/auth/endpoint"
	"daawo/supabase/internal/engine/auth/message"
	"daawo/supabase/internal/engine/auth/ratelimit"
	"daawo/supabase/internal/engine/auth/session"
	"daawo/supabase/internal/engine/auth/store"
)

// verifyParams are the parameters of /verify.
type verifyParams struct {
	Type       string `json:"type"`
	Token      string `json:"token"`
	TokenHash  string `json:"token_hash"`
	Email      string `json:"email"`
	Phone      string `json:"phone"`
	RedirectTo string `json:"redirect_to"`
}

// halfConfirmed is the reply when the first of two addresses has confirmed a change.
const halfConfirmed = "Confirmation link accepted. Please proceed to confirm link sent to the other email"

var (
	errLink = apierror.Errorf(http.StatusForbidden, "otp_expired", "Email link is invalid or has expired")
	errCode = apierror.Errorf(http.StatusForbidden, "otp_expired", "Token has expired or is invalid")
)

// Link serves GET /verify, which a user opens by a mailed link. It replies with a redirect, also to
// errors, unless the link is malformed.
func (s *Service) Link(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	p := verifyParams{Type: q.Get("type"), TokenHash: q.Get("token"), RedirectTo: s.Sender.RedirectTo(r)}
	switch {
	case p.Type == "":
		return apierror.Errorf(http.StatusBadRequest, "validation_failed", "Verify requires a verification type")
	case p.TokenHash == "":
		return apierror.Errorf(http.StatusBadRequest, "validation_failed", "Verify requires a token or a token hash")
	}
	pkce := strings.HasPrefix(p.TokenHash, store.PKCEPrefix)
	var reply *session.TokenReply
	var code string
	half, err := message.Queued(r.Context(), s.Sender, s.Sender.ChangeQueue(p.Type), func(tx message.Tx) (bool, error) {
		u, err := s.byLink(r.Context(), tx, &p)
		if err != nil {
			return false, err
		}
		half, err := s.verified(r, tx, u, p)
		if err != nil || half {
			return half, err
		}
		if pkce {
			code, err = s.issueCode(r.Context(), tx, u, flowMethod(p.Type))
			return false, err
		}
		reply, err = s.Sessions.SignIn(r, tx, w.Header(), u, "otp")
		return false, err
	})
	target := p.RedirectTo
	switch {
	case err != nil:
		we, ok := apierror.AsError(err)
		if !ok {
			s.Log.ErrorContext(r.Context(), "verify link", "type", p.Type, "error", err)
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

// flowMethod returns the method of a flow by the type of the link.
func flowMethod(kind string) string {
	if strings.HasSuffix(kind, "signup") {
		return "email/signup"
	}
	return kind
}

// Code serves POST /verify with a code, or with the hash of a link that the site sends itself.
func (s *Service) Code(w http.ResponseWriter, r *http.Request) error {
	var p verifyParams
	if err := endpoint.ReadJSON(r, &p); err != nil {
		return err
	}
	if err := p.check(); err != nil {
		return err
	}
	if p.Token != "" {
		if err := s.Limiter.LimitSubject(r.Context(), ratelimit.Verify, p.Email+p.Phone); err != nil {
			return err
		}
	}
	var reply *session.TokenReply
	half, err := message.Queued(r.Context(), s.Sender, s.Sender.ChangeQueue(p.Type), func(tx message.Tx) (bool, error) {
		find := s.byCode
		if p.Token == "" {
			find = func(ctx context.Context, tx pgx.Tx, p *verifyParams, _ string) (*store.User, error) {
				return s.byLink(ctx, tx, p)
			}
		}
		u, err := find(r.Context(), tx, &p, s.Sessions.Audience(r, nil))
		if err != nil {
			return false, err
		}
		half, err := s.verified(r, tx, u, p)
		if err != nil || half {
			return half, err
		}
		reply, err = s.Sessions.SignIn(r, tx, w.Header(), u, "otp")
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

// check validates the parameters and computes the hash of a code.
func (p *verifyParams) check() error {
	bad := func(text string) error {
		return apierror.Errorf(http.StatusBadRequest, "validation_failed", "%s", text)
	}
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
			return apierror.Errorf(http.StatusUnprocessableEntity, "validation_failed", "Invalid email format")
		}
		p.TokenHash = store.HashCode(p.Email, p.Token)
	default:
		return bad("Only an email address or phone number should be provided on verify")
	}
	return nil
}

// byLink returns the user of a link, by its hash, and locks the row. It replaces the type email by
// signup or magiclink.
func (s *Service) byLink(ctx context.Context, tx pgx.Tx, p *verifyParams) (*store.User, error) {
	kinds := map[string][]store.OneTimeToken{
		"email": {store.Confirmation, store.Recovery}, "signup": {store.Confirmation}, "invite": {store.Confirmation},
		"recovery": {store.Recovery}, "magiclink": {store.Recovery},
		"email_change": {store.EmailChangeCurrent, store.EmailChangeNew},
	}[p.Type]
	if kinds == nil {
		return nil, apierror.Errorf(http.StatusBadRequest, "validation_failed", "Invalid email verification type")
	}
	u, err := store.LockUserByToken(ctx, tx, p.TokenHash, kinds...)
	if errors.Is(err, store.ErrNotFound) {
		return nil, errLink
	}
	if err != nil {
		return nil, err
	}
	if u.Banned(s.Now()) {
		return nil, apierror.Errorf(http.StatusForbidden, "user_banned", "User is banned")
	}
	if p.Type == "email" {
		p.Type, kinds = "signup", kinds[:1]
		if store.Equal(u.RecoveryToken, p.TokenHash) {
			p.Type, kinds = "magiclink", []store.OneTimeToken{store.Recovery}
		}
	}
	_, sentAt := kinds[0].Fields(u)
	if *sentAt == nil || s.Now().After((*sentAt).Add(s.Sender.LinkExpiry())) {
		return nil, errLink
	}
	return u, nil
}

// byCode returns the user of a code, and locks the row. Unknown types and users get the reply to a
// wrong code.
func (s *Service) byCode(ctx context.Context, tx pgx.Tx, p *verifyParams, audience string) (*store.User, error) {
	var u *store.User
	var err error
	switch p.Type {
	case "phone_change":
		u, err = store.FindUser(ctx, tx, `where u.phone_change = $1 and u.aud = $2 and not u.is_sso_user`, p.Phone,
			audience)
	case "sms":
		u, err = store.HolderOfPhone(ctx, tx, p.Phone, audience)
	case "email_change":
		u, err = s.byChange(ctx, tx, p.TokenHash)
	default:
		u, err = store.HolderOfEmail(ctx, tx, p.Email, audience)
	}
	if errors.Is(err, store.ErrNotFound) {
		u, err = &store.User{}, nil // for the same statements; no row has this id
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
	if p.Type == "sms" || p.Type == "phone_change" {
		err = s.checkPhoneCode(ctx, u, p)
	} else if !s.codeMatches(u, p) {
		err = errCode
	}
	if err == nil && u.Banned(s.Now()) { // which is told to the holder of the code alone
		err = apierror.Errorf(http.StatusForbidden, "user_banned", "User is banned")
	}
	return u, err
}

// checkPhoneCode checks a code that was sent to a phone. If the SMS provider checks it, a code of
// this kind must have been asked for.
func (s *Service) checkPhoneCode(ctx context.Context, u *store.User, p *verifyParams) error {
	kind := store.Confirmation
	if p.Type == "phone_change" {
		kind = store.PhoneChange
	}
	asked, _ := kind.Fields(u)
	test, isTest := s.Sender.TestCode(p.Phone)
	switch {
	case isTest && store.Equal(test, p.Token):
		return nil
	case isTest || !s.Sender.ChecksCodes():
		if kind.Matches(u, p.TokenHash, s.Config.SMSCodeExpiry, s.Now()) {
			return nil
		}
	case *asked != "":
		if valid, err := s.Sender.CheckCode(ctx, p.Phone, p.Token); valid || err != nil {
			return err
		}
	}
	return errCode
}

// byChange returns the user whose address change has a code with the hash.
func (s *Service) byChange(ctx context.Context, tx pgx.Tx, hash string) (*store.User, error) {
	for _, h := range []string{hash, store.PKCEPrefix + hash} {
		if u, err := store.UserByToken(ctx, tx, h, store.EmailChangeCurrent, store.EmailChangeNew); !errors.Is(err,
			store.ErrNotFound) {
			return u, err
		}
	}
	return nil, store.ErrNotFound
}

// codeMatches reports whether the code is valid. It replaces the type email by signup or magiclink.
func (s *Service) codeMatches(u *store.User, p *verifyParams) bool {
	matches := func(life time.Duration, kinds ...store.OneTimeToken) bool {
		for _, k := range kinds {
			if k.Matches(u, p.TokenHash, life, s.Now()) {
				return true
			}
		}
		return false
	}
	switch p.Type {
	case "email":
		if matches(s.Sender.LinkExpiry(), store.Confirmation) {
			p.Type = "signup"
			return true
		}
		p.Type = "magiclink"
		return matches(s.Sender.LinkExpiry(), store.Recovery)
	case "signup", "invite":
		return matches(s.Sender.LinkExpiry(), store.Confirmation)
	case "recovery", "magiclink":
		return matches(s.Sender.LinkExpiry(), store.Recovery)
	case "email_change":
		return matches(s.Sender.LinkExpiry(), store.EmailChangeCurrent, store.EmailChangeNew)
	}
	return false
}

// errorRedirect returns target with an error in the fragment, and with PKCE also in the query.
func errorRedirect(target string, e *apierror.Error, pkce bool) (string, error) {
	u, err := url.Parse(target)
	if err != nil {
		return "", err
	}
	fragment, q := url.Values{}, u.Query()
	for _, to := range []url.Values{fragment, q} {
		if word, ok := endpoint.OAuthError(e.Status); ok {
			to.Set("error", word)
		}
		to.Set("error_code", e.Code)
		to.Set("error_description", e.Message)
	}
	if pkce {
		u.RawQuery = q.Encode()
	}
	return endpoint.SetFragment(u, fragment), nil
}

// messageRedirect returns target with a message in the fragment, and with PKCE also in the query.
func messageRedirect(target, message string, pkce bool) (string, error) {
	u, err := url.Parse(target)
	if err != nil {
		return "", err
	}
	if pkce {
		q := u.Query()
		q.Set("message", message)
		u.RawQuery = q.Encode()
	}
	return endpoint.SetFragment(u, url.Values{"message": {message}}), nil
}
