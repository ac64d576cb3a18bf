package auth

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/auth/external/idp"
	"daawo/supabase/internal/auth/message"
	"daawo/supabase/internal/auth/message/template"
	"daawo/supabase/internal/auth/session"
	"daawo/supabase/internal/auth/store"
	"daawo/supabase/internal/wire"
)

// arrival is somebody who comes from another provider.
type arrival struct {
	provider string
	subject  string
	data     store.Metadata // of the identity
	email    idp.Email      // the one that counts; lower case
	verified []string       // all that are known to be theirs
}

func (e *Engine) arrivalOf(provider string, p idp.Person) arrival {
	a := arrival{provider: provider, subject: p.Subject, data: store.Metadata{}.Merge(p.Data)}
	for _, address := range p.Emails {
		address.Address = strings.ToLower(address.Address)
		if address.Verified || e.config.MailerAutoconfirm {
			a.verified = append(a.verified, address.Address)
		}
		if address.Primary || a.email.Address == "" {
			a.email = address
		}
	}
	a.data["email_verified"], a.data["phone_verified"] = a.email.Verified, false
	if a.email.Address != "" {
		a.data["email"] = a.email.Address
	}
	return a
}

// arrive finds or makes the account of somebody who comes from another provider, or links them to the account that asked
// for it, and lets then finish the sign-in.
func (e *Engine) arrive(r *http.Request, f *store.Flow, p idp.Person, then func(message.Tx, *store.User) (*session.TokenReply, error)) (*session.TokenReply, error) {
	ctx := r.Context()
	a := e.arrivalOf(f.Provider, p)
	var created *store.User
	reply, err := message.Queued(ctx, e.sender, e.sender.MailQueue(), func(tx message.Tx) (*session.TokenReply, error) {
		var u *store.User
		var err error
		switch {
		case f.LinkingTargetID != nil:
			u, err = e.attach(r, tx, *f.LinkingTargetID, a)
		case f.InviteToken != "":
			u, err = e.acceptInvite(ctx, tx, f.InviteToken, a, p)
		default:
			var fresh bool
			if u, fresh, err = e.accountOf(r, tx, a, f.EmailOptional); fresh {
				created = u
			}
		}
		if err != nil {
			return nil, err
		}
		return then(tx, u)
	})
	if err != nil {
		return nil, err
	}
	if created != nil {
		return reply, e.hooks.AfterUserCreated(r, created)
	}
	return reply, nil
}

// accountOf follows GoTrue's linking rules: a known identity is its account; a verified address that one account has
// links to it; everything else is a new account.
func (e *Engine) accountOf(r *http.Request, tx message.Tx, a arrival, emailOptional bool) (u *store.User, fresh bool, err error) {
	ctx, now := r.Context(), e.now()
	u, identity, err := store.UserOfIdentity(ctx, tx, a.provider, a.subject)
	if err == nil {
		// Whoever confirms the address meanwhile may take the identity off: it is looked up again.
		if err := store.LockUser(ctx, tx, u.ID); err != nil {
			return nil, false, err
		}
		u, identity, err = store.UserOfIdentity(ctx, tx, a.provider, a.subject)
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, false, err
	}
	switch {
	case u != nil:
		if err := store.SaveIdentityData(ctx, tx, identity, a.data, now); err != nil {
			return nil, false, err
		}
		// The account's address counts, and the provider may vouch for another one by now.
		if u.Email != "" && !slices.Contains(a.verified, u.Email) {
			a.email.Verified = false
		}
		a.email.Address = u.Email
	default:
		if u, err = e.linkable(ctx, tx, &a, e.sessions.Audience(r, nil)); err != nil {
			return nil, false, err
		}
		if u == nil {
			if u, err = e.newExternal(r, tx, a); err != nil {
				return nil, false, err
			}
			fresh = true
		} else if err := e.store.Audit(ctx, tx, u, "identity_linked", map[string]any{"provider": a.provider, "provider_id": a.subject}); err != nil {
			return nil, false, err
		}
		if err := store.InsertIdentity(ctx, tx, u, a.provider, a.data, now); err != nil {
			return nil, false, err
		}
	}
	if !fresh {
		if err := store.SaveUserMetadata(ctx, tx, u, u.UserMetadata.Merge(a.data), now); err != nil {
			return nil, false, err
		}
		if err := store.SaveProviders(ctx, tx, u, now); err != nil {
			return nil, false, err
		}
	}
	if u.Banned(now) {
		return nil, false, wire.Errorf(http.StatusForbidden, "user_banned", "User is banned")
	}
	return u, fresh, e.confirmExternal(r, tx, u, a, emailOptional)
}

// confirmExternal confirms the address that the provider vouches for, and mails to one that it does not.
func (e *Engine) confirmExternal(r *http.Request, tx message.Tx, u *store.User, a arrival, emailOptional bool) error {
	ctx := r.Context()
	if u.Confirmed() || emailOptional && a.email.Address == "" {
		return e.store.Audit(ctx, tx, u, "login", map[string]any{"provider": a.provider})
	}
	// Whoever made the unconfirmed account need not be this person: their password and other identities go.
	if err := e.store.KeepOnly(ctx, tx, u, a.provider, a.subject); err != nil {
		return err
	}
	if a.email.Verified || e.config.MailerAutoconfirm {
		if err := e.store.Audit(ctx, tx, u, "user_signedup", map[string]any{"provider": a.provider}); err != nil {
			return err
		}
		return store.ConfirmEmail(ctx, tx, u, e.now())
	}
	sent := a.email.Address != ""
	if sent {
		if err := e.sender.SendLink(r, tx, u, store.Confirmation, template.Confirmation, "signup", false); err != nil {
			return err
		}
	}
	switch {
	case e.config.AllowUnverifiedEmail:
		return nil
	case sent:
		return store.AfterCommit(wire.Errorf(http.StatusUnprocessableEntity, "provider_email_needs_verification",
			"Unverified email with %v. A confirmation email has been sent to your %v email", a.provider, a.provider))
	}
	return store.AfterCommit(wire.Errorf(http.StatusUnprocessableEntity, "provider_email_needs_verification",
		"Unverified email with %v. Verify the email with %v in order to sign in", a.provider, a.provider))
}

// linkable finds the account that a new identity belongs to by its verified addresses; nil when there is none.
func (e *Engine) linkable(ctx context.Context, tx pgx.Tx, a *arrival, audience string) (*store.User, error) {
	if len(a.verified) == 0 {
		other, err := store.UserOfEmail(ctx, tx, a.email.Address, audience)
		if errors.Is(err, store.ErrNotFound) {
			return nil, nil
		}
		if other != nil {
			a.email.Address = "" // an unverified address that somebody has is not given to another account
		}
		return nil, err
	}
	users, err := store.FindUsers(ctx, tx, `
		where u.aud = $2 and not u.is_sso_user
		  and (u.email = any($1) or exists (select from auth.identities i where i.user_id = u.id and i.email = any($1)
		                                       and `+store.VerifiedIdentity+` and i.provider not like 'sso:%'))`, a.verified, audience)
	if err != nil {
		return nil, err
	}
	switch len(users) {
	case 0:
		return nil, nil
	case 1:
		return users[0], nil
	}
	return nil, wire.Errorf(http.StatusInternalServerError, "unexpected_failure", "Multiple accounts with the same email address in the same linking domain detected: default")
}

// newExternal stores the account of somebody who was never here.
func (e *Engine) newExternal(r *http.Request, tx pgx.Tx, a arrival) (*store.User, error) {
	if e.config.DisableSignup {
		return nil, wire.Errorf(http.StatusUnprocessableEntity, "signup_disabled", "Signups not allowed for this instance")
	}
	u := e.store.NewUser(a.email.Address, "", a.data, "", e.sessions.Audience(r, nil))
	u.IsAnonymous = false
	u.AppMetadata = store.Metadata{"provider": a.provider, "providers": []string{a.provider}}
	if err := e.hooks.BeforeUserCreated(r, tx, u); err != nil {
		return nil, err
	}
	return u, store.StoreUser(r.Context(), tx, u)
}

// acceptInvite gives an invited account the identity whose address was invited.
func (e *Engine) acceptInvite(ctx context.Context, tx pgx.Tx, token string, a arrival, p idp.Person) (*store.User, error) {
	u, err := store.UserByToken(ctx, tx, token, store.Confirmation)
	if errors.Is(err, store.ErrNotFound) {
		return nil, wire.Errorf(http.StatusNotFound, "invite_not_found", "Invite not found")
	}
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(p.Emails, func(m idp.Email) bool { return strings.EqualFold(m.Address, u.Email) }) {
		return nil, wire.Errorf(http.StatusBadRequest, "validation_failed", "Invited email does not match emails from external provider")
	}
	if err := store.InsertIdentity(ctx, tx, u, a.provider, a.data, e.now()); err != nil {
		return nil, err
	}
	if err := e.store.Audit(ctx, tx, u, "invite_accepted", map[string]any{"provider": a.provider}); err != nil {
		return nil, err
	}
	if err := e.store.KeepOnly(ctx, tx, u, a.provider, a.subject); err != nil {
		return nil, err
	}
	return u, store.ConfirmEmail(ctx, tx, u, e.now())
}

// attach adds an identity to the account that asked for it.
func (e *Engine) attach(r *http.Request, tx message.Tx, target uuid.UUID, a arrival) (*store.User, error) {
	ctx, now := r.Context(), e.now()
	owner, _, err := store.UserOfIdentity(ctx, tx, a.provider, a.subject)
	switch {
	case err == nil && owner.ID == target:
		return nil, wire.Errorf(http.StatusUnprocessableEntity, "identity_already_exists", "Identity is already linked")
	case err == nil:
		return nil, wire.Errorf(http.StatusUnprocessableEntity, "identity_already_exists", "Identity is already linked to another user")
	case !errors.Is(err, store.ErrNotFound):
		return nil, err
	}
	u := &store.User{ID: target}
	if err := store.ReloadUser(ctx, tx, u); errors.Is(err, store.ErrNotFound) {
		return nil, wire.Errorf(http.StatusUnprocessableEntity, "user_not_found", "Linking target user not found")
	} else if err != nil {
		return nil, err
	}
	if u.Banned(now) {
		return nil, wire.Errorf(http.StatusForbidden, "user_banned", "User is banned")
	}
	if err := store.InsertIdentity(ctx, tx, u, a.provider, a.data, now); err != nil {
		return nil, err
	}
	if err := e.store.Audit(ctx, tx, u, "identity_linked", map[string]any{"provider": a.provider, "provider_id": a.subject}); err != nil {
		return nil, err
	}
	if u.Email == "" && a.email.Address != "" {
		if err := e.adoptEmail(r, tx, u, a); err != nil {
			return nil, err
		}
	}
	e.sender.Notify(r, tx, u, template.IdentityLinked, "", template.Data{Provider: a.provider})
	return u, nil
}

// adoptEmail gives an account without an address the linked identity's.
func (e *Engine) adoptEmail(r *http.Request, tx message.Tx, u *store.User, a arrival) error {
	ctx, now := r.Context(), e.now()
	if _, err := store.UserByEmail(ctx, tx, a.email.Address, u.Audience); err == nil {
		return wire.Errorf(http.StatusBadRequest, "email_exists", "A user with this email address has already been registered")
	} else if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	u.Email = a.email.Address
	if err := store.SetColumn(ctx, tx, u, "email", u.Email, now); err != nil {
		return err
	}
	if !a.email.Verified {
		if err := e.sender.SendLink(r, tx, u, store.Confirmation, template.Confirmation, "signup", false); err != nil {
			return err
		}
		return store.AfterCommit(wire.Errorf(http.StatusUnprocessableEntity, "email_not_confirmed",
			"Unverified email with %v. A confirmation email has been sent to your %v email", a.provider, a.provider))
	}
	if err := store.ConfirmEmail(ctx, tx, u, now); err != nil {
		return err
	}
	if u.IsAnonymous {
		u.IsAnonymous = false
		return store.SetColumn(ctx, tx, u, "is_anonymous", false, now)
	}
	return nil
}
