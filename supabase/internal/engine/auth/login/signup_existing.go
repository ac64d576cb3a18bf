package login

import (
	"context"
	"errors"
	"net/http"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/engine/auth/store"
)

// mayContinue reports whether a sign-up goes on with an existing account, which it does while the
// contact is unconfirmed and the request is for the audience of the account. If contacts need no
// confirmation, the client must know the account's password, and an invited account is out of
// reach.
func (s *Service) mayContinue(r *http.Request, p signupParams, u *store.User) (bool, error) {
	if p.confirmed(u) || u.Audience != s.Sessions.Audience(r, nil) {
		return false, nil
	}
	if !s.autoconfirm(p) {
		return true, nil
	}
	if u.InvitedAt != nil || u.Banned(s.Now()) || !u.HasPassword() {
		return false, nil
	}
	ok, err := s.Passwords.MatchesUser(r.Context(), u, p.Password)
	if err != nil {
		return false, err
	}
	return ok, s.callPasswordHook(r, u, ok)
}

// confirmed reports whether u, which has the contact of a sign-up, has a proven owner: by either
// contact, or by a verified identity.
func (p signupParams) confirmed(u *store.User) bool {
	return u.Confirmed() || u.PhoneConfirmed() || p.Email != "" && u.Email != p.Email
}

// continueSignup locks the account, because it may have been confirmed since it was read. An
// unconfirmed account that only has identities of other providers is taken over by the user who
// signs up and will confirm the contact: what the providers said is removed. byCode: the user will
// use a code, and so needs no password. The one of an unconfirmed account, which another person may
// have chosen, is removed.
func (s *Service) continueSignup(ctx context.Context, tx pgx.Tx, u *store.User, p signupParams, hash string,
	byCode bool) error {
	checked := u.EncryptedPassword
	if err := store.ReloadUser(ctx, tx, u); errors.Is(err, store.ErrNotFound) {
		return apierror.Errorf(http.StatusConflict, "conflict", "The account was deleted by another request")
	} else if err != nil {
		return err
	}
	if p.confirmed(u) || s.autoconfirm(p) && !u.HasPasswordHash(checked) {
		return apierror.Errorf(http.StatusUnprocessableEntity, "user_already_exists", "User already registered")
	}
	if u.HasIdentity(p.provider()) {
		if byCode && u.HasPassword() && !s.autoconfirm(p) {
			return store.SavePassword(ctx, tx, u, "", nil, s.Now())
		}
		return nil
	}
	if u.InvitedAt != nil { // the client may not be the invited person
		hash = ""
	}
	if err := s.Store.KeepContact(ctx, tx, u, p.provider(), p.Data); err != nil {
		return err
	}
	return s.Store.Evict(ctx, tx, u, hash)
}
