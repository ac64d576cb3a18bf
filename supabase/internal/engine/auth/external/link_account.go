package external

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/engine/auth/external/idp"
	"daawo/supabase/internal/engine/auth/message"
	"daawo/supabase/internal/engine/auth/message/template"
	"daawo/supabase/internal/engine/auth/session"
	"daawo/supabase/internal/engine/auth/store"
)

// profile is what a provider says about the user who signs in.
type profile struct {
	provider string
	subject  string
	data     store.Metadata // of the identity
	email    idp.Email      // the primary address, in lower case; empty if none is primary
	verified []string       // all verified addresses
}

// profileOf returns the profile of a provider's user.
func (s *Service) profileOf(provider string, p idp.Person) profile {
	a := profile{provider: provider, subject: p.Subject, data: store.Metadata{}.Merge(p.Data)}
	var shown idp.Email
	for _, address := range p.Emails {
		address.Address = strings.ToLower(address.Address)
		if address.Verified || s.Config.MailerAutoconfirm {
			a.verified = append(a.verified, address.Address)
		}
		if address.Primary {
			a.email = address
		}
		if !shown.Primary {
			shown = address
		}
	}
	a.data["email_verified"], a.data["phone_verified"] = shown.Verified, false
	if shown.Address != "" {
		a.data["email"] = shown.Address
	}
	return a
}

// LinkAccount finds or makes the account of a provider's user, or links the identity to the account
// that asked for it. Then it calls then in the same transaction, to finish the sign-in.
func (s *Service) LinkAccount(r *http.Request, f *store.Flow, p idp.Person,
	then func(message.Tx, *store.User) (*session.TokenReply, error)) (*session.TokenReply, error) {
	ctx := r.Context()
	a := s.profileOf(f.Provider, p)
	var created *store.User
	reply, err := message.Queued(ctx, s.Sender, s.Sender.MailQueue(), func(tx message.Tx) (*session.TokenReply, error) {
		var u *store.User
		var err error
		switch {
		case f.LinkingTargetID != nil:
			u, err = s.attach(r, tx, *f.LinkingTargetID, a)
		case f.InviteToken != "":
			u, err = s.acceptInvite(ctx, tx, f.InviteToken, a, p)
		default:
			var fresh bool
			if u, fresh, err = s.findOrCreate(r, tx, a, f.EmailOptional); fresh {
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
		return reply, s.Hooks.AfterUserCreated(r, created)
	}
	return reply, nil
}

var errBanned = apierror.Errorf(http.StatusForbidden, "user_banned", "User is banned")

// findOrCreate follows GoTrue's linking rules: a known identity belongs to its account; a verified
// address that one account has links the identity to it; else it makes an account.
func (s *Service) findOrCreate(r *http.Request, tx message.Tx, a profile, emailOptional bool) (u *store.User,
	fresh bool, err error) {
	ctx, now := r.Context(), s.Now()
	u, identity, err := store.UserOfIdentity(ctx, tx, a.provider, a.subject)
	if err == nil {
		// The identity is read again after the lock, because the confirmation of the address may
		// have deleted it.
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
		// The account's address counts, which the provider may no longer have verified.
		if u.Email != "" && !slices.Contains(a.verified, u.Email) {
			a.email.Verified = false
		}
		a.email.Address = u.Email
	default:
		if u, err = s.findLinkable(ctx, tx, &a, s.Sessions.Audience(r, nil)); err != nil {
			return nil, false, err
		}
		if u == nil {
			if u, err = s.createUser(r, tx, a); err != nil {
				return nil, false, err
			}
			fresh = true
		} else if err := s.Store.Audit(ctx, tx, u, "identity_linked",
			map[string]any{"provider": a.provider, "provider_id": a.subject}); err != nil {
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
		return nil, false, errBanned
	}
	return u, fresh, s.confirm(r, tx, u, a, emailOptional)
}

// confirm confirms an address that the provider has verified, and sends a confirmation mail to
// another one.
func (s *Service) confirm(r *http.Request, tx message.Tx, u *store.User, a profile, emailOptional bool) error {
	ctx := r.Context()
	if u.Confirmed() || a.email.Address == "" && (emailOptional || u.PhoneConfirmed()) {
		return s.Store.Audit(ctx, tx, u, "login", map[string]any{"provider": a.provider})
	}
	verified := a.email.Verified || s.Config.MailerAutoconfirm
	// Another person may have made the unconfirmed account, so its password and other identities
	// are deleted, and with a verified address every other access. An account with a proven number
	// has an owner, who has linked this identity.
	if !u.PhoneConfirmed() {
		keep := s.Store.KeepOnly
		if verified {
			keep = s.Store.TakeOver
		}
		if err := keep(ctx, tx, u, a.provider, a.subject); err != nil {
			return err
		}
	}
	if verified {
		if err := s.Store.Audit(ctx, tx, u, "user_signedup", map[string]any{"provider": a.provider}); err != nil {
			return err
		}
		return store.ConfirmEmail(ctx, tx, u, s.Now())
	}
	sent := a.email.Address != ""
	if sent {
		if err := s.Sender.SendLink(r, tx, u, store.Confirmation, template.Confirmation, "signup", false); err != nil {
			return err
		}
	}
	switch {
	case s.Config.AllowUnverifiedEmail:
		return nil
	case sent:
		return store.AfterCommit(apierror.Errorf(http.StatusUnprocessableEntity, "provider_email_needs_verification",
			"Unverified email with %v. A confirmation email has been sent to your %v email", a.provider, a.provider))
	}
	return store.AfterCommit(apierror.Errorf(http.StatusUnprocessableEntity, "provider_email_needs_verification",
		"Unverified email with %v. Verify the email with %v in order to sign in", a.provider, a.provider))
}

// findLinkable returns the account to which a new identity belongs by its verified addresses; nil
// if there is none.
func (s *Service) findLinkable(ctx context.Context, tx pgx.Tx, a *profile, audience string) (*store.User, error) {
	if store.IsSSO(a.provider) {
		return s.findOfProvider(ctx, tx, a)
	}
	if len(a.verified) == 0 {
		other, err := store.UserOfEmail(ctx, tx, a.email.Address)
		if errors.Is(err, store.ErrNotFound) {
			return nil, nil
		}
		if other != nil {
			a.email.Address = "" // another account has the unverified address
		}
		return nil, err
	}
	users, err := store.FindUsers(ctx, tx, `
		where u.aud = $2 and not u.is_sso_user
		  and (u.email = any($1) and `+store.ProvenEmail+` or exists (select from auth.identities i where i.user_id = u.id and i.email = any($1)
		                                       and `+store.VerifiedIdentity+` and i.provider not like 'sso:%'))`,
		a.verified, audience)
	if err != nil {
		return nil, err
	}
	return onlyAccount(users, "default")
}

// findOfProvider returns the account of single sign-on to which a new identity belongs: one with
// the same address at the same provider. Other accounts with the address stay separate.
func (s *Service) findOfProvider(ctx context.Context, tx pgx.Tx, a *profile) (*store.User, error) {
	users, err := store.FindUsers(ctx, tx, `
		where exists (select from auth.identities i where i.user_id = u.id and i.provider = $1 and i.email = any($2))`,
		a.provider, a.verified)
	if err != nil {
		return nil, err
	}
	return onlyAccount(users, a.provider)
}

// onlyAccount returns the account of a linking domain; nil if there is none.
func onlyAccount(users []*store.User, domain string) (*store.User, error) {
	switch len(users) {
	case 0:
		return nil, nil
	case 1:
		return users[0], nil
	}
	return nil, apierror.Errorf(http.StatusInternalServerError, "unexpected_failure",
		"Multiple accounts with the same email address in the same linking domain detected: %v", domain)
}

// createUser stores a new account.
func (s *Service) createUser(r *http.Request, tx pgx.Tx, a profile) (*store.User, error) {
	if s.Config.DisableSignup {
		return nil, apierror.Errorf(http.StatusUnprocessableEntity, "signup_disabled",
			"Signups not allowed for this instance")
	}
	u := s.Store.NewUser(a.email.Address, "", a.data, "", s.Sessions.Audience(r, nil))
	u.IsAnonymous, u.IsSSO = false, store.IsSSO(a.provider)
	u.AppMetadata = store.Metadata{"provider": a.provider, "providers": []string{a.provider}}
	if err := s.Hooks.BeforeUserCreated(r, tx, u); err != nil {
		return nil, err
	}
	return u, store.StoreUser(r.Context(), tx, u)
}

// acceptInvite links the identity to an invited account with the same address. An invitation works
// once and for as long as its link.
func (s *Service) acceptInvite(ctx context.Context, tx pgx.Tx, token string, a profile, p idp.Person) (*store.User,
	error) {
	u, err := store.LockUserByToken(ctx, tx, token, store.Confirmation)
	if err == nil && (u.ConfirmationSentAt == nil || s.Now().After(u.ConfirmationSentAt.Add(s.Sender.LinkExpiry()))) {
		err = store.ErrNotFound
	}
	if errors.Is(err, store.ErrNotFound) {
		return nil, apierror.Errorf(http.StatusNotFound, "invite_not_found", "Invite not found")
	}
	if err != nil {
		return nil, err
	}
	if u.Banned(s.Now()) {
		return nil, errBanned
	}
	if !slices.ContainsFunc(p.Emails, func(m idp.Email) bool { return strings.EqualFold(m.Address, u.Email) }) {
		return nil, apierror.Errorf(http.StatusBadRequest, "validation_failed",
			"Invited email does not match emails from external provider")
	}
	if err := store.InsertIdentity(ctx, tx, u, a.provider, a.data, s.Now()); err != nil {
		return nil, err
	}
	if err := s.Store.Audit(ctx, tx, u, "invite_accepted", map[string]any{"provider": a.provider}); err != nil {
		return nil, err
	}
	if err := s.Store.TakeOver(ctx, tx, u, a.provider, a.subject); err != nil {
		return nil, err
	}
	return u, store.ConfirmEmail(ctx, tx, u, s.Now())
}

// attach links the identity to the account that asked for it.
func (s *Service) attach(r *http.Request, tx message.Tx, target uuid.UUID, a profile) (*store.User, error) {
	ctx, now := r.Context(), s.Now()
	owner, _, err := store.UserOfIdentity(ctx, tx, a.provider, a.subject)
	switch {
	case err == nil && owner.ID == target:
		return nil, apierror.Errorf(http.StatusUnprocessableEntity, "identity_already_exists",
			"Identity is already linked")
	case err == nil:
		return nil, apierror.Errorf(http.StatusUnprocessableEntity, "identity_already_exists",
			"Identity is already linked to another user")
	case !errors.Is(err, store.ErrNotFound):
		return nil, err
	}
	u := &store.User{ID: target}
	if err := store.ReloadUser(ctx, tx, u); errors.Is(err, store.ErrNotFound) {
		return nil, apierror.Errorf(http.StatusUnprocessableEntity, "user_not_found", "Linking target user not found")
	} else if err != nil {
		return nil, err
	}
	if u.Banned(now) {
		return nil, errBanned
	}
	if err := store.InsertIdentity(ctx, tx, u, a.provider, a.data, now); err != nil {
		return nil, err
	}
	if err := s.Store.Audit(ctx, tx, u, "identity_linked",
		map[string]any{"provider": a.provider, "provider_id": a.subject}); err != nil {
		return nil, err
	}
	if u.Email == "" && a.email.Address != "" {
		if err := s.adoptEmail(r, tx, u, a); err != nil {
			return nil, err
		}
	}
	if err := store.SaveProviders(ctx, tx, u, now); err != nil {
		return nil, err
	}
	s.Sender.Notify(r, tx, u, template.IdentityLinked, "", template.Data{Provider: a.provider})
	return u, nil
}

// adoptEmail gives an account without an address the linked identity's address.
func (s *Service) adoptEmail(r *http.Request, tx message.Tx, u *store.User, a profile) error {
	ctx, now := r.Context(), s.Now()
	find := store.HolderOfEmail
	if a.email.Verified {
		find = store.UserByEmail
	}
	if _, err := find(ctx, tx, a.email.Address, u.Audience); err == nil {
		return apierror.Errorf(http.StatusBadRequest, "email_exists",
			"A user with this email address has already been registered")
	} else if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	u.Email = a.email.Address
	if err := store.Release(ctx, tx, u); err != nil {
		return err
	}
	if err := store.SetColumn(ctx, tx, u, "email", u.Email, now); err != nil {
		return err
	}
	if !a.email.Verified {
		if err := s.Sender.SendLink(r, tx, u, store.Confirmation, template.Confirmation, "signup", false); err != nil {
			return err
		}
		return store.AfterCommit(apierror.Errorf(http.StatusUnprocessableEntity, "email_not_confirmed",
			"Unverified email with %v. A confirmation email has been sent to your %v email", a.provider, a.provider))
	}
	return store.ConfirmEmail(ctx, tx, u, now)
}
