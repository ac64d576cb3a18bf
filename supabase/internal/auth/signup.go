package auth

import (
	"context"
	"errors"
	"net/http"
	"net/mail"
	"regexp"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/db"
	"daawo/supabase/internal/wire"
)

type signupParams struct {
	Email    string   `json:"email"`
	Phone    string   `json:"phone"`
	Password string   `json:"password"`
	Data     metadata `json:"data"`
	Channel  string   `json:"channel"`
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

// signup makes an account. Where addresses need no confirmation it signs in at once; otherwise it answers with the bare
// user, and with one who does not exist when the address is taken: a stranger learns nothing of who has an account.
func (e *Engine) signup(w http.ResponseWriter, r *http.Request) error {
	var p signupParams
	if err := readJSON(r, &p); err != nil {
		return err
	}
	if p.provider() == "" {
		return e.signupAnonymously(w, r, p)
	}
	ctx := r.Context()
	existing, err := e.checkSignup(r, &p)
	if err != nil {
		return err
	}
	if existing != nil && (existing.Confirmed() && p.Email != "" || existing.PhoneConfirmed() && p.Phone != "") {
		return e.repeatedSignup(w, r, p, existing)
	}
	u := existing
	var hash string
	if u == nil {
		if hash, err = e.hash(ctx, p.Password); err != nil {
			return err
		}
	}
	reply, err := inTx(ctx, e, func(tx pgx.Tx) (any, error) {
		if u == nil {
			if u, err = e.newUser(ctx, tx, p, hash, e.audience(r, nil)); err != nil {
				return nil, err
			}
		}
		if !e.autoconfirm(p) {
			if err := e.audit(ctx, tx, u, "user_confirmation_requested", map[string]any{"provider": p.provider()}); err != nil {
				return nil, err
			}
			return u, nil
		}
		if err := e.audit(ctx, tx, u, "user_signedup", map[string]any{"provider": p.provider()}); err != nil {
			return nil, err
		}
		confirm := confirmEmail
		if p.Email == "" {
			confirm = confirmPhone
		}
		if err := confirm(ctx, tx, u, e.now()); err != nil {
			return nil, err
		}
		if err := e.audit(ctx, tx, u, "login", map[string]any{"provider": p.provider()}); err != nil {
			return nil, err
		}
		return e.signIn(ctx, tx, w.Header(), u, "password", clientOf(r))
	})
	if err != nil {
		return err
	}
	return send(w, http.StatusOK, reply)
}

func (e *Engine) autoconfirm(p signupParams) bool {
	if p.Email != "" {
		return e.config.MailerAutoconfirm
	}
	return e.config.PhoneAutoconfirm
}

// checkSignup validates a sign-up and finds who already has the address or number; nil when nobody.
func (e *Engine) checkSignup(r *http.Request, p *signupParams) (*User, error) {
	if e.config.DisableSignup {
		return nil, wire.Errorf(http.StatusUnprocessableEntity, "signup_disabled", "Signups not allowed for this instance")
	}
	if p.Password == "" {
		return nil, wire.Errorf(http.StatusBadRequest, "validation_failed", "Signup requires a valid password")
	}
	if err := e.checkPassword(p.Password); err != nil {
		return nil, err
	}
	if p.Email != "" && p.Phone != "" {
		return nil, wire.Errorf(http.StatusBadRequest, "validation_failed", "Only an email address or phone number should be provided on signup.")
	}
	var existing *User
	var err error
	if p.Email != "" {
		if e.config.DisableEmail {
			return nil, wire.Errorf(http.StatusBadRequest, "email_provider_disabled", "Email signups are disabled")
		}
		if p.Email, err = validEmail(p.Email); err != nil {
			return nil, err
		}
		existing, err = userByEmail(r.Context(), e.db.Pgx(), p.Email, e.audience(r, nil))
	} else {
		if !e.config.EnablePhone {
			return nil, wire.Errorf(http.StatusBadRequest, "phone_provider_disabled", "Phone signups are disabled")
		}
		if p.Phone, err = validPhone(p.Phone); err != nil {
			return nil, err
		}
		existing, err = userByPhone(r.Context(), e.db.Pgx(), p.Phone, e.audience(r, nil))
	}
	if errors.Is(err, errNotFound) {
		return nil, nil
	}
	return existing, err
}

// newUser stores an account with its first identity.
func (e *Engine) newUser(ctx context.Context, tx pgx.Tx, p signupParams, hash, audience string) (*User, error) {
	now := e.now()
	u := &User{
		ID: uuid.New(), Audience: audience, Role: e.config.DefaultRole, Email: p.Email, Phone: p.Phone,
		EncryptedPassword: &hash, AppMetadata: metadata{}, UserMetadata: metadata{}.merge(p.Data),
		Identities: []Identity{}, CreatedAt: now, UpdatedAt: now,
	}
	if provider := p.provider(); provider != "" {
		u.AppMetadata = metadata{"provider": provider, "providers": []string{provider}}
	} else {
		u.IsAnonymous = true
	}
	if p.provider() != "" {
		// What the person says of themselves is kept beside what the identity says.
		u.UserMetadata = u.UserMetadata.merge(metadata{"sub": u.ID.String(), "email_verified": false, "phone_verified": false})
		if p.Email != "" {
			u.UserMetadata["email"] = p.Email
		} else {
			u.UserMetadata["phone"] = p.Phone
		}
	}
	if err := insertUser(ctx, tx, u); err != nil {
		if db.IsCode(err, "23505") { // somebody else was faster
			return nil, wire.Errorf(http.StatusUnprocessableEntity, "user_already_exists", "User already registered").WithCause(err)
		}
		return nil, wire.Errorf(http.StatusInternalServerError, "unexpected_failure", "Database error saving new user").WithCause(err)
	}
	if u.IsAnonymous {
		return u, nil
	}
	return u, insertIdentity(ctx, tx, u, p.provider(), identityData(u, p.Data), now)
}

// identityData is what an address's or number's identity says. Its verified flags stay false; the account's own say more.
func identityData(u *User, extra metadata) metadata {
	data := metadata{}.merge(extra).merge(metadata{"sub": u.ID.String(), "email_verified": false, "phone_verified": false})
	if u.Email != "" {
		data["email"] = u.Email
	} else {
		data["phone"] = u.Phone
	}
	return data
}

// repeatedSignup answers somebody who signs up with an address that has an account.
func (e *Engine) repeatedSignup(w http.ResponseWriter, r *http.Request, p signupParams, existing *User) error {
	_, err := inTx(r.Context(), e, func(tx pgx.Tx) (any, error) {
		return nil, e.audit(r.Context(), tx, existing, "user_repeated_signup", map[string]any{"provider": p.provider()})
	})
	if err != nil {
		return err
	}
	if e.config.MailerAutoconfirm || e.config.PhoneAutoconfirm {
		return wire.Errorf(http.StatusUnprocessableEntity, "user_already_exists", "User already registered")
	}
	now := e.now()
	fake := &User{
		ID: uuid.New(), Audience: existing.Audience, Email: p.Email, Phone: p.Phone, ConfirmationSentAt: &now,
		AppMetadata:  metadata{"provider": p.provider(), "providers": []string{p.provider()}},
		UserMetadata: metadata{}.merge(p.Data), Identities: []Identity{}, CreatedAt: now, UpdatedAt: now,
	}
	return send(w, http.StatusOK, fake)
}

func (e *Engine) signupAnonymously(w http.ResponseWriter, r *http.Request, p signupParams) error {
	if !e.config.EnableAnonymous {
		return wire.Errorf(http.StatusUnprocessableEntity, "anonymous_provider_disabled", "Anonymous sign-ins are disabled")
	}
	if e.config.DisableSignup {
		return wire.Errorf(http.StatusUnprocessableEntity, "signup_disabled", "Signups not allowed for this instance")
	}
	ctx := r.Context()
	reply, err := inTx(ctx, e, func(tx pgx.Tx) (*tokenReply, error) {
		u, err := e.newUser(ctx, tx, p, "", e.audience(r, nil))
		if err != nil {
			return nil, err
		}
		return e.signIn(ctx, tx, w.Header(), u, "anonymous", clientOf(r))
	})
	if err != nil {
		return err
	}
	return send(w, http.StatusOK, reply)
}

// validEmail checks an address and gives its stored form.
func validEmail(text string) (string, error) {
	invalid := wire.Errorf(http.StatusBadRequest, "validation_failed", "Unable to validate email address: invalid format")
	if len(text) > 255 {
		return "", wire.Errorf(http.StatusBadRequest, "validation_failed", "An email address is too long")
	}
	a, err := mail.ParseAddress(text)
	if err != nil || a.Address != text {
		return "", invalid
	}
	return strings.ToLower(text), nil
}

var phoneForm = regexp.MustCompile(`^[1-9][0-9]{1,14}$`)

// validPhone checks a number (E.164) and gives its stored form, without plus and spaces.
func validPhone(text string) (string, error) {
	digits := strings.ReplaceAll(strings.TrimPrefix(text, "+"), " ", "")
	if !phoneForm.MatchString(digits) {
		return "", wire.Errorf(http.StatusBadRequest, "validation_failed", "Invalid phone number format (E.164 required)")
	}
	return digits, nil
}

// banUntil reads a duration such as "24h"; "none" ends a ban.
func banUntil(text string, now time.Time) (*time.Time, error) {
	if text == "none" {
		return nil, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return nil, wire.Errorf(http.StatusBadRequest, "validation_failed", "invalid format for ban duration: %v", err)
	}
	until := now.Add(d)
	return &until, nil
}
