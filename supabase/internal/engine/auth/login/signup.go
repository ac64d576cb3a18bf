package login

import (
	"cmp"
	"context"
	"errors"
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

// signupParams is the body of POST /signup, and what a request for a link or code asks for.
type signupParams struct {
	Email           string         `json:"email"`
	Phone           string         `json:"phone"`
	Password        string         `json:"password"`
	Data            map[string]any `json:"data"`
	Channel         string         `json:"channel"`
	Challenge       string         `json:"code_challenge"`
	ChallengeMethod string         `json:"code_challenge_method"`
}

// linkParams are the members of a request for a link.
type linkParams struct {
	Email           string `json:"email"`
	Challenge       string `json:"code_challenge"`
	ChallengeMethod string `json:"code_challenge_method"`
}

func (p linkParams) signup() signupParams {
	return signupParams{Email: p.Email, Challenge: p.Challenge, ChallengeMethod: p.ChallengeMethod}
}

// provider returns email, phone, or "" for an anonymous sign-up.
func (p signupParams) provider() string {
	switch {
	case p.Email != "":
		return "email"
	case p.Phone != "":
		return "phone"
	}
	return ""
}

// pkce reports whether the client wants a code instead of tokens.
func (p signupParams) pkce() bool { return p.Challenge != "" }

func (p signupParams) checkPKCE() error {
	return endpoint.CheckChallenge(p.ChallengeMethod, p.Challenge)
}

// flow returns the flow of user u for a sign-in by a link.
func (p signupParams) flow(method string, u *store.User) store.Flow {
	return store.Flow{Provider: method, Method: method, Challenge: p.Challenge, ChallengeMethod: p.ChallengeMethod,
		UserID: &u.ID, Decoy: u.Decoy}
}

// Signup serves POST /signup.
func (s *Service) Signup(w http.ResponseWriter, r *http.Request) error {
	var p signupParams
	if err := endpoint.ReadJSON(r, &p); err != nil {
		return err
	}
	if p.provider() == "" {
		return s.signupAnonymously(w, r, p)
	}
	if err := s.Limiter.Limit(r, ratelimit.Signup); err != nil {
		return err
	}
	begun := time.Now()
	reply, err := s.signUp(r, w.Header(), p, false)
	if p.Email != "" && !s.Config.MailerAutoconfirm {
		s.awaitStep(r.Context(), begun)
	}
	if err != nil {
		return err
	}
	return endpoint.SendJSON(w, http.StatusOK, reply)
}

// signUp makes an account. If contacts need no confirmation it signs in and returns a
// *session.TokenReply, else the *store.User. For a taken contact it does the same work for a decoy
// and returns it, so that neither the reply nor its time tells whether an account exists. byCode:
// the user asked for a code, so the account gets no password.
func (s *Service) signUp(r *http.Request, headers http.Header, p signupParams, byCode bool) (any, error) {
	existing, taken, err := s.beginSignup(r, &p, byCode)
	if err != nil {
		return nil, err
	}
	u, hash, err := s.prepareSignup(r, p, existing, byCode)
	if err != nil {
		return nil, err
	}
	if taken != nil {
		u.Decoy, u.ID = true, decoyID(taken.ID)
	}
	reply, err := message.Queued(r.Context(), s.Sender, s.signupQueue(p), func(tx message.Tx) (any, error) {
		shown, err := s.storeAccount(r, tx, u, existing, p, hash, byCode)
		if err != nil {
			return nil, err
		}
		if !s.autoconfirm(p) {
			err := s.askToConfirm(r, tx, u, taken, p)
			shown.ConfirmationSentAt, shown.UpdatedAt = u.ConfirmationSentAt, u.UpdatedAt
			return shown, err
		}
		reply, err := s.confirmSignup(r, tx, headers, u, p)
		if err == nil && existing == nil && p.Email != "" {
			showVerified(u)
		}
		return reply, err
	})
	switch {
	case err != nil:
		return nil, err
	case taken != nil && !s.Config.HideAccounts:
		return s.repeatedSignup(p, taken), nil
	case taken == nil && existing == nil:
		if err := s.Hooks.AfterUserCreated(r, u); err != nil {
			return nil, err
		}
	}
	return reply, nil
}

// beginSignup validates and counts a sign-up. It returns the account that the sign-up continues, or
// the one that has the contact and belongs to another person.
func (s *Service) beginSignup(r *http.Request, p *signupParams, byCode bool) (existing, taken *store.User,
	err error) {
	if existing, err = s.checkSignup(r, p, byCode); err != nil {
		return nil, nil, err
	}
	if existing != nil {
		switch ok, err := s.mayContinue(r, *p, existing); {
		case err != nil:
			return nil, nil, err
		case !ok && (s.Config.MailerAutoconfirm || s.Config.PhoneAutoconfirm):
			return nil, nil, s.refuseRepeated(r, *p, existing)
		case !ok:
			taken, existing = existing, nil
		}
	}
	if p.Email != "" && !byCode && !s.Config.MailerAutoconfirm {
		err = s.Limiter.LimitSignup(r, p.Email)
	}
	return existing, taken, err
}

// prepareSignup returns the account, which is a new one if existing is nil, and the hash of the
// password; "" for a sign-up by a code. It hashes also if existing keeps its own password, so that
// the time does not tell whether there is an account.
func (s *Service) prepareSignup(r *http.Request, p signupParams, existing *store.User, byCode bool) (u *store.User,
	hash string, err error) {
	if !byCode {
		if hash, err = s.Passwords.Hash(r.Context(), p.Password); err != nil {
			return nil, "", err
		}
	}
	if existing != nil {
		return existing, hash, nil
	}
	u = s.Store.NewUser(p.Email, p.Phone, p.Data, hash, s.Sessions.Audience(r, nil))
	return u, hash, s.Hooks.BeforeUserCreated(r, nil, u)
}

// storeAccount stores the new account u, or continues with existing, which is u. While contacts
// need a confirmation it sends the statements of both cases. It returns the account as the client
// sees it: with nothing that another person has sent.
func (s *Service) storeAccount(r *http.Request, tx message.Tx, u, existing *store.User, p signupParams, hash string,
	byCode bool) (shown *store.User, err error) {
	ctx := r.Context()
	if existing == nil {
		if !s.autoconfirm(p) {
			if err := s.rereadNone(ctx, tx); err != nil {
				return nil, err
			}
		}
		return u, s.storeSignup(ctx, tx, u, p)
	}
	if err := s.continueSignup(ctx, tx, u, p, hash, byCode); err != nil || s.autoconfirm(p) {
		return u, err
	}
	shown = s.decoy(r, p)
	shown.ID = u.ID
	return shown, s.storeSignup(ctx, tx, shown, p)
}

// rereadNone sends the statements that reread an account, for one that does not exist.
func (s *Service) rereadNone(ctx context.Context, tx message.Tx) error {
	err := store.ReloadUser(ctx, tx, &store.User{ID: uuid.New()})
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// decoyID returns the id that a sign-up with a contact of an account shows: the same one each time,
// as if the account waited for its confirmation, and in the form of a random one (version 4).
func decoyID(account uuid.UUID) uuid.UUID {
	id := uuid.NewSHA1(account, []byte("sign-up"))
	id[6] = id[6]&0x0f | 0x40
	return id
}

// decoy returns an account for a contact, for which a request does the work but stores nothing.
func (s *Service) decoy(r *http.Request, p signupParams) *store.User {
	u := s.Store.NewUser(p.Email, p.Phone, p.Data, "", s.Sessions.Audience(r, nil))
	u.Decoy = true
	return u
}

// confirmSignup confirms the contact without a message and signs in.
func (s *Service) confirmSignup(r *http.Request, tx pgx.Tx, headers http.Header, u *store.User,
	p signupParams) (*session.TokenReply, error) {
	ctx := r.Context()
	confirm, traits := store.ConfirmEmail, map[string]any{"provider": p.provider()}
	if p.Email == "" {
		confirm, traits["channel"] = store.ConfirmPhone, cmp.Or(p.Channel, "sms")
	}
	if err := s.Store.Audit(ctx, tx, u, "user_signedup", traits); err != nil {
		return nil, err
	}
	if err := confirm(ctx, tx, u, s.Now()); err != nil {
		return nil, err
	}
	if err := s.Store.Audit(ctx, tx, u, "login", map[string]any{"provider": p.provider()}); err != nil {
		return nil, err
	}
	return s.Sessions.SignIn(r, tx, headers, u, "password")
}

// showVerified marks the address of the first identity as verified, in the reply alone: the stored
// identity stays unverified, because its holder has proven nothing. GoTrue does the same, for an
// address alone.
func showVerified(u *store.User) {
	for i := range u.Identities {
		u.Identities[i].Data = u.Identities[i].Data.Merge(store.Metadata{"email_verified": true})
	}
}

// askToConfirm sends the link or code that confirms the contact. A decoy's has no recipient,
// because the contact is taken.
func (s *Service) askToConfirm(r *http.Request, tx message.Tx, u, taken *store.User, p signupParams) (err error) {
	ctx := r.Context()
	if taken != nil {
		err = s.auditRepeated(ctx, tx, p, taken)
	} else {
		err = s.Store.Audit(ctx, tx, u, "user_confirmation_requested", map[string]any{"provider": p.provider()})
	}
	if err != nil {
		return err
	}
	if p.Email == "" {
		_, err := s.Sender.SendPhoneCode(r, tx, u, store.Confirmation, p.Phone, p.Channel)
		return err
	}
	if p.pkce() {
		f := p.flow("email/signup", u)
		f.Provider = "email"
		if err := s.Store.NewFlow(ctx, tx, f); err != nil {
			return err
		}
	}
	return s.Sender.SendLink(r, tx, u, store.Confirmation, template.Confirmation, "signup", p.pkce())
}

// signupQueue is the queue for the message of askToConfirm.
func (s *Service) signupQueue(p signupParams) message.Queue {
	switch {
	case s.autoconfirm(p):
		return nil
	case p.Email == "":
		return s.Sender.TextQueue()
	}
	return s.Sender.MailQueue()
}

// autoconfirm reports whether the contact needs no confirmation.
func (s *Service) autoconfirm(p signupParams) bool {
	if p.Email != "" {
		return s.Config.MailerAutoconfirm
	}
	return s.Config.PhoneAutoconfirm
}

// checkSignup validates a sign-up and returns the user who has the contact already; nil if there is
// none.
func (s *Service) checkSignup(r *http.Request, p *signupParams, byCode bool) (*store.User, error) {
	if err := s.checkSignupForm(r.Context(), p, byCode); err != nil {
		return nil, err
	}
	var existing *store.User
	var err error
	if p.Email != "" {
		if s.Config.DisableEmail {
			return nil, apierror.Errorf(http.StatusBadRequest, "email_provider_disabled", "Email signups are disabled")
		}
		if p.Email, err = endpoint.ValidEmail(p.Email); err != nil {
			return nil, err
		}
		existing, err = store.UserOfEmail(r.Context(), s.DB.Pgx(), p.Email)
	} else {
		if !s.Config.EnablePhone {
			return nil, apierror.Errorf(http.StatusBadRequest, "phone_provider_disabled", "Phone signups are disabled")
		}
		if p.Phone, err = endpoint.ValidPhone(p.Phone); err != nil {
			return nil, err
		}
		existing, err = store.UserOfPhone(r.Context(), s.DB.Pgx(), p.Phone)
	}
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	return existing, err
}

var errSignupDisabled = apierror.Errorf(http.StatusUnprocessableEntity, "signup_disabled",
	"Signups not allowed for this instance")

func (s *Service) checkSignupForm(ctx context.Context, p *signupParams, byCode bool) error {
	if s.Config.DisableSignup {
		return errSignupDisabled
	}
	if !byCode {
		if p.Password == "" {
			return apierror.Errorf(http.StatusBadRequest, "validation_failed", "Signup requires a valid password")
		}
		if err := s.Passwords.Check(ctx, p.Password); err != nil {
			return err
		}
	}
	if p.Email != "" && p.Phone != "" {
		return apierror.Errorf(http.StatusBadRequest, "validation_failed",
			"Only an email address or phone number should be provided on signup.")
	}
	if p.Phone != "" {
		if err := s.Sender.CheckChannel(p.Channel); err != nil {
			return err
		}
		if p.pkce() {
			return apierror.Errorf(http.StatusBadRequest, "validation_failed", "PKCE not supported for phone signups")
		}
	}
	return p.checkPKCE()
}

// storeSignup stores a new account with its first identity. The identity's data become the
// account's.
func (s *Service) storeSignup(ctx context.Context, tx pgx.Tx, u *store.User, p signupParams) error {
	data := store.ContactData(u, p.Data)
	if !u.IsAnonymous {
		u.UserMetadata = data
	}
	if err := store.StoreUser(ctx, tx, u); err != nil || u.IsAnonymous {
		return err
	}
	return store.InsertIdentity(ctx, tx, u, p.provider(), data, s.Now())
}

func (s *Service) signupAnonymously(w http.ResponseWriter, r *http.Request, p signupParams) error {
	if !s.Config.EnableAnonymous {
		return apierror.Errorf(http.StatusUnprocessableEntity, "anonymous_provider_disabled",
			"Anonymous sign-ins are disabled")
	}
	if err := s.Limiter.Limit(r, ratelimit.Anonymous); err != nil {
		return err
	}
	if s.Config.DisableSignup {
		return errSignupDisabled
	}
	ctx := r.Context()
	u := s.Store.NewUser("", "", p.Data, "", s.Sessions.Audience(r, nil))
	if err := s.Hooks.BeforeUserCreated(r, nil, u); err != nil {
		return err
	}
	reply, err := store.InTx(ctx, s.DB, func(tx pgx.Tx) (*session.TokenReply, error) {
		if err := s.storeSignup(ctx, tx, u, p); err != nil {
			return nil, err
		}
		return s.Sessions.SignIn(r, tx, w.Header(), u, "anonymous")
	})
	if err != nil {
		return err
	}
	if err := s.Hooks.AfterUserCreated(r, u); err != nil {
		return err
	}
	return endpoint.SendJSON(w, http.StatusOK, reply)
}

// refuseRepeated replies to a sign-up with a contact that has a confirmed account, if contacts need
// no confirmation.
func (s *Service) refuseRepeated(r *http.Request, p signupParams, taken *store.User) error {
	_, err := store.InTx(r.Context(), s.DB, func(tx pgx.Tx) (any, error) {
		return nil, s.auditRepeated(r.Context(), tx, p, taken)
	})
	if err != nil {
		return err
	}
	return apierror.Errorf(http.StatusUnprocessableEntity, "user_already_exists", "User already registered")
}

func (s *Service) auditRepeated(ctx context.Context, tx pgx.Tx, p signupParams, taken *store.User) error {
	return s.Store.Audit(ctx, tx, taken, "user_repeated_signup", map[string]any{"provider": p.provider()})
}

// repeatedSignup returns GoTrue's reply to a sign-up with a contact that has a confirmed account:
// without identities, by which clients recognise it.
func (s *Service) repeatedSignup(p signupParams, taken *store.User) *store.User {
	now := s.Now()
	return &store.User{
		ID: uuid.New(), Audience: taken.Audience, Email: p.Email, Phone: p.Phone, ConfirmationSentAt: &now,
		AppMetadata:  store.Metadata{"provider": p.provider(), "providers": []string{p.provider()}},
		UserMetadata: store.Metadata(p.Data).Copy(), Identities: []store.Identity{}, CreatedAt: now, UpdatedAt: now,
	}
}
