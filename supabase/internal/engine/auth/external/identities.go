package external

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/engine/auth/endpoint"
	"daawo/supabase/internal/engine/auth/message"
	"daawo/supabase/internal/engine/auth/message/template"
	"daawo/supabase/internal/engine/auth/session"
	"daawo/supabase/internal/engine/auth/store"
)

// WithLinking calls h for a user if manual linking is enabled and the session has used a second
// factor of the user, else it replies as GoTrue does when linking is disabled.
func (s *Service) WithLinking(h func(http.ResponseWriter, *http.Request,
	*session.Caller) error) func(http.ResponseWriter, *http.Request) error {
	return s.Sessions.AsUser(func(w http.ResponseWriter, r *http.Request, c *session.Caller) error {
		if err := checkLinking(s.Config, c); err != nil {
			return err
		}
		return h(w, r, c)
	})
}

// checkLinking returns an error if the caller may not change the identities of the account. A thief
// of the password could otherwise link an identity that no change of the password removes.
func checkLinking(o Config, c *session.Caller) error {
	if !o.ManualLinking {
		return apierror.Errorf(http.StatusNotFound, "manual_linking_disabled", "Manual linking is disabled")
	}
	return c.CheckFactor()
}

// UnlinkIdentity serves DELETE /user/identities/{id}. It keeps the user's last identity.
func (s *Service) UnlinkIdentity(w http.ResponseWriter, r *http.Request, c *session.Caller) error {
	id, err := uuid.Parse(chi.URLParam(r, "identity_id"))
	if err != nil {
		return apierror.Errorf(http.StatusNotFound, "validation_failed", "identity_id must be an UUID")
	}
	if len(c.Claims.Audience) == 0 || s.Sessions.Audience(r, c.Claims) != c.Claims.Audience[0] {
		return apierror.Errorf(http.StatusForbidden, "unexpected_audience",
			"Token audience doesn't match request audience")
	}
	u, ctx := c.User, r.Context()
	_, err = message.Queued(ctx, s.Sender, s.Sender.NotificationQueue(template.IdentityUnlinked),
		func(tx message.Tx) (any, error) {
			// The lock keeps two concurrent requests from deleting the last two identities.
			if err := s.Sessions.Reauthorize(ctx, tx, c); err != nil {
				return nil, err
			}
			if len(u.Identities) <= 1 {
				return nil, apierror.Errorf(http.StatusUnprocessableEntity, "single_identity_not_deletable",
					"User must have at least 1 identity after unlinking")
			}
			at := slices.IndexFunc(u.Identities, func(i store.Identity) bool { return i.ID == id })
			if at < 0 {
				return nil, apierror.Errorf(http.StatusUnprocessableEntity, "identity_not_found",
					"Identity doesn't exist")
			}
			gone, told := u.Identities[at], u.Email
			if err := s.Store.Audit(ctx, tx, u, "identity_unlinked",
				map[string]any{"identity_id": gone.ID, "provider": gone.Provider,
					"provider_id": gone.ProviderID}); err != nil {
				return nil, err
			}
			if _, err := tx.Exec(ctx, `delete from auth.identities where id = $1`, gone.ID); err != nil {
				return nil, err
			}
			u.Identities = slices.Delete(u.Identities, at, at+1)
			if gone.Provider == "phone" {
				u.Phone, u.PhoneConfirmedAt = "", nil
				if _, err := tx.Exec(ctx,
					`update auth.users set phone = null, phone_confirmed_at = null, updated_at = $2 where id = $1`,
					u.ID, s.Now()); err != nil {
					return nil, err
				}
			} else if err := s.promoteEmail(ctx, tx, u); err != nil {
				return nil, err
			}
			if err := store.SaveProviders(ctx, tx, u, s.Now()); err != nil {
				return nil, err
			}
			s.Sender.Notify(r, tx, u, template.IdentityUnlinked, told, template.Data{Provider: gone.Provider})
			return nil, nil
		})
	if err != nil {
		return err
	}
	return endpoint.SendJSON(w, http.StatusOK, struct{}{})
}

// promoteEmail gives the account the address of a remaining identity, preferably a verified one. An
// unverified address is not confirmed. Tokens that were sent to the old address become invalid.
func (s *Service) promoteEmail(ctx context.Context, tx pgx.Tx, u *store.User) error {
	rank := func(i store.Identity) int {
		verified, _ := i.Data["email_verified"].(bool)
		switch {
		case i.Email == "":
			return 2
		case !verified:
			return 1
		}
		return 0
	}
	left := slices.Clone(u.Identities)
	for _, i := range left {
		if i.Email == u.Email {
			return nil
		}
	}
	slices.SortStableFunc(left, func(a, b store.Identity) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), a.CreatedAt.Compare(b.CreatedAt))
	})
	at := -1
	for n, i := range left {
		if i.Email != "" {
			if _, err := store.HolderOfEmail(ctx, tx, i.Email, u.Audience); err == nil {
				continue // another account has it
			} else if !errors.Is(err, store.ErrNotFound) {
				return err
			}
		}
		at = n
		break
	}
	if at < 0 {
		return apierror.Errorf(http.StatusUnprocessableEntity, "email_conflict_identity_not_deletable",
			"Unable to unlink identity due to email conflict")
	}
	chosen, now := left[at], s.Now()
	u.Email = chosen.Email
	u.ConfirmationToken, u.RecoveryToken, u.EmailChange, u.EmailChangeTokenCurrent, u.EmailChangeTokenNew = "", "", "",
		"", ""
	u.PhoneChange, u.PhoneChangeToken, u.ReauthenticationToken, u.EmailChangeConfirmStatus = "", "", "", 0
	if _, err := tx.Exec(ctx, `
		update auth.users
		   set email = nullif($2, ''), confirmation_token = '', confirmation_sent_at = null, recovery_token = '',
		       recovery_sent_at = null, email_change = '', email_change_token_current = '',
		       email_change_token_new = '', email_change_sent_at = null, email_change_confirm_status = 0,
		       phone_change = '', phone_change_token = '', phone_change_sent_at = null, reauthentication_token = '',
		       reauthentication_sent_at = null, updated_at = $3
		 where id = $1`, u.ID, chosen.Email, now); err != nil {
		return err
	}
	if err := store.DeleteTokens(ctx, tx, u.ID); err != nil {
		return err
	}
	if rank(chosen) == 0 || rank(chosen) == 1 && s.Config.MailerAutoconfirm {
		return nil
	}
	u.EmailConfirmedAt = nil
	if err := store.SetColumn(ctx, tx, u, "email_confirmed_at", nil, now); err != nil {
		return err
	}
	return store.SaveUserMetadata(ctx, tx, u, u.UserMetadata.Merge(store.Metadata{"email_verified": false}), now)
}
