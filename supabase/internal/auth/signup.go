package auth

import (
	"context"
	"errors"
	"net/http"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/auth/endpoint"
	"daawo/supabase/internal/auth/message"
	"daawo/supabase/internal/auth/message/template"
	"daawo/supabase/internal/auth/ratelimit"
	"daawo/supabase/internal/auth/session"
	"daawo/supabase/internal/auth/store"
	"daawo/supabase/internal/wire"
)

type signupParams struct {
	Email           string         `json:"email"`
	Phone           string         `json:"phone"`
	Password        string         `json:"password"`
	Data            map[string]any `json:"data"`
	Channel         string         `json:"channel"`
	Challenge       string         `json:"code_challenge"`
	ChallengeMethod string         `json:"code_challenge_method"`
}

func (p signupParams) provider() string {
	switch {
	case p.Email != "":
		return "email"
	case p.Phone != "":
		return "phone"
	}
	return ""
}

// pkce says whether the caller wants a code instead of tokens.
func (p signupParams) pkce() bool { return p.Challenge != "" }

func (p signupParams) checkPKCE() error {
	return endpoint.CheckChallenge(p.ChallengeMethod, p.Challenge)
}

// signup answers POST /signup.
func (e *Engine) signup(w http.ResponseWriter, r *http.Request) error {
	var p signupParams
	if err := endpoint.ReadJSON(r, &p); err != nil {
		return err
	}
	if p.provider() == "" {
		return e.signupAnonymously(w, r, p)
	}
	if err := e.limiter.Limit(r, ratelimit.Signup); err != nil {
		return err
	}
	reply, err := e.signUp(r, w.Header(), p, false)
	if err != nil {
		return err
	}
	return endpoint.SendJSON(w, http.StatusOK, reply)
}

// signUp makes an account. Where addresses need no confirmation it signs in at once and gives a *tokenReply; otherwise it
// gives the bare *User, and one who does not exist when the address is taken: a stranger learns nothing of who has an
// account. byCode says that the person asked for a code and has no password that must be judged.
func (e *Engine) signUp(r *http.Request, headers http.Header, p signupParams, byCode bool) (any, error) {
	ctx := r.Context()
	existing, err := e.checkSignup(r, &p, byCode)
	if err != nil {
		return nil, err
	}
	if existing != nil {
		mayGoOn, err := e.continues(r, p, existing)
		if err != nil {
			return nil, err
		}
		if !mayGoOn {
			return e.repeatedSignup(r, p, existing)
		}
	}
	u, hash := existing, ""
	if u == nil || !u.HasIdentity(p.provider()) {
		if hash, err = e.passwords.Hash(ctx, p.Password); err != nil {
			return nil, err
		}
	}
	if u == nil {
		u = e.store.NewUser(p.Email, p.Phone, p.Data, hash, e.sessions.Audience(r, nil))
		if err := e.hooks.BeforeUserCreated(r, nil, u); err != nil {
			return nil, err
		}
	}
	reply, err := message.Queued(ctx, e.sender, e.signupQueue(p), func(tx message.Tx) (any, error) {
		if existing == nil {
			if err := e.storeSignup(ctx, tx, u, p); err != nil {
				return nil, err
			}
		} else if err := e.continueSignup(ctx, tx, u, p, hash); err != nil {
			return nil, err
		}
		if !e.autoconfirm(p) {
			return u, e.askToConfirm(r, tx, u, p)
		}
		if err := e.store.Audit(ctx, tx, u, "user_signedup", map[string]any{"provider": p.provider()}); err != nil {
			return nil, err
		}
		confirm := store.ConfirmEmail
		if p.Email == "" {
			confirm = store.ConfirmPhone
		}
		if err := confirm(ctx, tx, u, e.now()); err != nil {
			return nil, err
		}
		if err := e.store.Audit(ctx, tx, u, "login", map[string]any{"provider": p.provider()}); err != nil {
			return nil, err
		}
		return e.sessions.SignIn(r, tx, headers, u, "password")
	})
	if err != nil {
		return nil, err
	}
	if existing == nil {
		if err := e.hooks.AfterUserCreated(r, u); err != nil {
			return nil, err
		}
	}
	if bare, ok := reply.(*store.User); ok && bare.InvitedAt != nil {
		// Whoever signs up with an invited address need not be the invited person.
		shown := *bare
		shown.UserMetadata, shown.Identities = store.Metadata{}, []store.Identity{}
		return &shown, nil
	}
	return reply, nil
}

// continues says whether a sign-up goes on with an account that exists. It does while nobody has confirmed the account's
// address or number. Where nobody has to, only the account's own password opens it, and nothing one that somebody was
// invited to.
func (e *Engine) continues(r *http.Request, p signupParams, u *store.User) (bool, error) {
	if p.confirmed(u) {
		return false, nil
	}
	if !e.autoconfirm(p) {
		return true, nil
	}
	if u.InvitedAt != nil || u.Banned(e.now()) || !u.HasPassword() {
		return false, nil
	}
	ok, err := e.passwords.MatchesUser(r.Context(), u, p.Password)
	if err != nil {
		return false, err
	}
	return ok, e.passwordVerdict(r, u, ok)
}

// confirmed says whether the address or number that signs up is somebody's. That of a verified identity is, too.
func (p signupParams) confirmed(u *store.User) bool {
	if p.Email == "" {
		return u.PhoneConfirmed()
	}
	return u.Confirmed() || u.Email != p.Email
}

// continueSignup holds the account, for it may have been confirmed meanwhile. One that only other providers know, whose
// word for the address did not count, becomes that of whoever signs up and will confirm: what is known of it goes.
func (e *Engine) continueSignup(ctx context.Context, tx pgx.Tx, u *store.User, p signupParams, hash string) error {
	checked := u.EncryptedPassword
	if err := store.ReloadUser(ctx, tx, u); errors.Is(err, store.ErrNotFound) {
		return wire.Errorf(http.StatusConflict, "conflict", "The account was deleted meanwhile")
	} else if err != nil {
		return err
	}
	if p.confirmed(u) || e.autoconfirm(p) && !u.HasPasswordHash(checked) {
		return wire.Errorf(http.StatusUnprocessableEntity, "user_already_exists", "User already registered")
	}
	if u.HasIdentity(p.provider()) || u.Confirmed() || u.PhoneConfirmed() {
		return nil
	}
	secret := p.Password
	if u.InvitedAt != nil { // whoever signs up need not be the invited person
		secret, hash = e.passwords.Random(), ""
	}
	if hash == "" {
		var err error
		if hash, err = e.passwords.Hash(ctx, secret); err != nil {
			return err
		}
	}
	if err := e.keepContact(ctx, tx, u, p.provider(), p.Data); err != nil {
		return err
	}
	return store.SavePassword(ctx, tx, u, hash, nil, e.now())
}

// keepContact leaves an account that nobody has confirmed its address or number alone: the identities of providers that
// did not vouch for it go, and what they brought.
func (e *Engine) keepContact(ctx context.Context, tx pgx.Tx, u *store.User, provider string, data store.Metadata) error {
	if !u.HasIdentity(provider) {
		if err := store.InsertIdentity(ctx, tx, u, provider, store.ContactData(u, data), e.now()); err != nil {
			return err
		}
	} else if len(u.Identities) == 1 {
		return nil
	}
	return e.store.KeepIdentity(ctx, tx, u, provider, u.ID.String())
}

// askToConfirm sends what proves that the address or number is the person's.
func (e *Engine) askToConfirm(r *http.Request, tx message.Tx, u *store.User, p signupParams) error {
	ctx := r.Context()
	if err := e.store.Audit(ctx, tx, u, "user_confirmation_requested", map[string]any{"provider": p.provider()}); err != nil {
		return err
	}
	if p.Email == "" {
		_, err := e.sender.SendPhoneCode(r, tx, u, store.Confirmation, p.Phone, p.Channel)
		return err
	}
	if p.pkce() {
		f := store.Flow{Provider: "email", Method: "email/signup", Challenge: p.Challenge, ChallengeMethod: p.ChallengeMethod, UserID: &u.ID}
		if err := e.store.NewFlow(ctx, tx, f); err != nil {
			return err
		}
	}
	return e.sender.SendLink(r, tx, u, store.Confirmation, template.Confirmation, "signup", p.pkce())
}

// signupLine is for what askToConfirm sends.
func (e *Engine) signupQueue(p signupParams) message.Queue {
	switch {
	case e.autoconfirm(p):
		return nil
	case p.Email == "":
		return e.sender.TextQueue()
	}
	return e.sender.MailQueue()
}

func (e *Engine) autoconfirm(p signupParams) bool {
	if p.Email != "" {
		return e.config.MailerAutoconfirm
	}
	return e.config.PhoneAutoconfirm
}

// checkSignup validates a sign-up and finds who already has the address or number; nil when nobody.
func (e *Engine) checkSignup(r *http.Request, p *signupParams, byCode bool) (*store.User, error) {
	if e.config.DisableSignup {
		return nil, wire.Errorf(http.StatusUnprocessableEntity, "signup_disabled", "Signups not allowed for this instance")
	}
	if p.Password == "" {
		return nil, wire.Errorf(http.StatusBadRequest, "validation_failed", "Signup requires a valid password")
	}
	if !byCode {
		if err := e.passwords.Check(p.Password); err != nil {
			return nil, err
		}
	}
	if p.Email != "" && p.Phone != "" {
		return nil, wire.Errorf(http.StatusBadRequest, "validation_failed", "Only an email address or phone number should be provided on signup.")
	}
	if p.Phone != "" {
		if err := e.sender.CheckChannel(p.Channel); err != nil {
			return nil, err
		}
		if p.pkce() {
			return nil, wire.Errorf(http.StatusBadRequest, "validation_failed", "PKCE not supported for phone signups")
		}
	}
	if err := p.checkPKCE(); err != nil {
		return nil, err
	}
	var existing *store.User
	var err error
	if p.Email != "" {
		if e.config.DisableEmail {
			return nil, wire.Errorf(http.StatusBadRequest, "email_provider_disabled", "Email signups are disabled")
		}
		if p.Email, err = endpoint.ValidEmail(p.Email); err != nil {
			return nil, err
		}
		existing, err = store.UserOfEmail(r.Context(), e.db.Pgx(), p.Email, e.sessions.Audience(r, nil))
	} else {
		if !e.config.EnablePhone {
			return nil, wire.Errorf(http.StatusBadRequest, "phone_provider_disabled", "Phone signups are disabled")
		}
		if p.Phone, err = endpoint.ValidPhone(p.Phone); err != nil {
			return nil, err
		}
		existing, err = store.UserByPhone(r.Context(), e.db.Pgx(), p.Phone, e.sessions.Audience(r, nil))
	}
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	return existing, err
}

// storeSignup stores a new account with its first identity, whose data becomes the account's.
func (e *Engine) storeSignup(ctx context.Context, tx pgx.Tx, u *store.User, p signupParams) error {
	data := store.ContactData(u, p.Data)
	if !u.IsAnonymous {
		u.UserMetadata = data
	}
	if err := store.StoreUser(ctx, tx, u); err != nil || u.IsAnonymous {
		return err
	}
	return store.InsertIdentity(ctx, tx, u, p.provider(), data, e.now())
}

// repeatedSignup answers somebody who signs up with an address that has an account.
func (e *Engine) repeatedSignup(r *http.Request, p signupParams, existing *store.User) (any, error) {
	_, err := store.InTx(r.Context(), e.db, func(tx pgx.Tx) (any, error) {
		return nil, e.store.Audit(r.Context(), tx, existing, "user_repeated_signup", map[string]any{"provider": p.provider()})
	})
	if err != nil {
		return nil, err
	}
	if e.config.MailerAutoconfirm || e.config.PhoneAutoconfirm {
		return nil, wire.Errorf(http.StatusUnprocessableEntity, "user_already_exists", "User already registered")
	}
	now := e.now()
	return &store.User{
		ID: uuid.New(), Audience: existing.Audience, Email: p.Email, Phone: p.Phone, ConfirmationSentAt: &now,
		AppMetadata:  store.Metadata{"provider": p.provider(), "providers": []string{p.provider()}},
		UserMetadata: store.Metadata{}.Merge(p.Data), Identities: []store.Identity{}, CreatedAt: now, UpdatedAt: now,
	}, nil
}

func (e *Engine) signupAnonymously(w http.ResponseWriter, r *http.Request, p signupParams) error {
	if !e.config.EnableAnonymous {
		return wire.Errorf(http.StatusUnprocessableEntity, "anonymous_provider_disabled", "Anonymous sign-ins are disabled")
	}
	if err := e.limiter.Limit(r, ratelimit.Anonymous); err != nil {
		return err
	}
	if e.config.DisableSignup {
		return wire.Errorf(http.StatusUnprocessableEntity, "signup_disabled", "Signups not allowed for this instance")
	}
	ctx := r.Context()
	u := e.store.NewUser(p.Email, p.Phone, p.Data, "", e.sessions.Audience(r, nil))
	if err := e.hooks.BeforeUserCreated(r, nil, u); err != nil {
		return err
	}
	reply, err := store.InTx(ctx, e.db, func(tx pgx.Tx) (*session.TokenReply, error) {
		if err := e.storeSignup(ctx, tx, u, p); err != nil {
			return nil, err
		}
		return e.sessions.SignIn(r, tx, w.Header(), u, "anonymous")
	})
	if err != nil {
		return err
	}
	if err := e.hooks.AfterUserCreated(r, u); err != nil {
		return err
	}
	return endpoint.SendJSON(w, http.StatusOK, reply)
}
