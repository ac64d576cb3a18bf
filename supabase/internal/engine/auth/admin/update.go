package admin

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/engine/auth/endpoint"
	"daawo/supabase/internal/engine/auth/store"
)

// UpdateUser serves PUT /admin/users/{id}: it changes an account at once, without messages and
// confirmations.
func (s *Service) UpdateUser(w http.ResponseWriter, r *http.Request, admin *store.User) error {
	u, err := s.userOf(r)
	if err != nil {
		return err
	}
	var p adminUser
	if err := endpoint.ReadJSON(r, &p); err != nil {
		return err
	}
	ctx := r.Context()
	if err := p.checkForm(s.Now()); err != nil {
		return err
	}
	if p.Password != nil {
		if err := s.Passwords.Check(r.Context(), *p.Password); err != nil {
			return err
		}
	}
	if err := s.checkContacts(ctx, u, &p); err != nil {
		return err
	}
	hash := ""
	if p.Password != nil {
		if hash, err = s.Passwords.Hash(ctx, *p.Password); err != nil {
			return err
		}
	}
	_, err = store.InTx(ctx, s.DB, func(tx pgx.Tx) (any, error) {
		// The row is read again, because it may have changed while the hashing waited for its turn.
		if err := store.ReloadUser(ctx, tx, u); errors.Is(err, store.ErrNotFound) {
			return nil, errNoUser
		} else if err != nil {
			return nil, err
		}
		if err := s.applyAdminUpdate(ctx, tx, u, p, hash); err != nil {
			return nil, err
		}
		return nil, s.Store.Audit(ctx, tx, admin, "user_modified",
			map[string]any{"user_id": u.ID, "user_email": u.Email, "user_phone": u.Phone})
	})
	if err != nil {
		return err
	}
	return endpoint.SendJSON(w, http.StatusOK, u)
}

// checkForm validates the contacts and the ban without reading other accounts.
func (p *adminUser) checkForm(now time.Time) (err error) {
	if p.Email != "" {
		if p.Email, err = endpoint.ValidEmail(p.Email); err != nil {
			return err
		}
	}
	if p.Phone != "" {
		if p.Phone, err = endpoint.ValidPhone(p.Phone); err != nil {
			return err
		}
	}
	if p.BanDuration != "" {
		_, err = banUntil(p.BanDuration, now)
	}
	return err
}

// applyAdminUpdate stores the changes; hash is the new password's, "" for none.
func (s *Service) applyAdminUpdate(ctx context.Context, tx pgx.Tx, u *store.User, p adminUser, hash string) error {
	now := s.Now()
	if p.Role != "" {
		u.Role = p.Role
		if err := store.SetColumn(ctx, tx, u, "role", p.Role, now); err != nil {
			return err
		}
	}
	if err := s.applyConfirmations(ctx, tx, u, p); err != nil {
		return err
	}
	if hash != "" {
		if err := store.ChangePassword(ctx, tx, u, hash, nil, now); err != nil {
			return err
		}
	}
	for _, c := range []struct {
		provider, value string
		field           *string
		confirmed       bool
		exists          *apierror.Error
	}{{"email", p.Email, &u.Email, p.EmailConfirm, store.ErrEmailExists},
		{"phone", p.Phone, &u.Phone, p.PhoneConfirm, store.ErrPhoneExists}} {
		if c.value == "" {
			continue
		}
		*c.field = c.value
		if err := store.SetColumn(ctx, tx, u, c.provider, c.value, now); err != nil {
			return store.DuplicateContact(err, c.exists)
		}
		if err := store.SaveContactIdentity(ctx, tx, u, c.provider, c.value, c.confirmed, now); err != nil {
			return err
		}
		if u.IsAnonymous && c.confirmed {
			u.IsAnonymous = false
			if err := store.SetColumn(ctx, tx, u, "is_anonymous", false, now); err != nil {
				return err
			}
		}
	}
	if p.AppMetadata != nil {
		if err := store.SaveAppMetadata(ctx, tx, u, u.AppMetadata.Merge(p.AppMetadata), now); err != nil {
			return err
		}
	}
	if p.UserMetadata != nil {
		if err := store.SaveUserMetadata(ctx, tx, u, u.UserMetadata.Merge(p.UserMetadata), now); err != nil {
			return err
		}
	}
	if p.BanDuration != "" {
		until, err := banUntil(p.BanDuration, now)
		if err != nil {
			return err
		}
		u.BannedUntil = until
		return store.SetColumn(ctx, tx, u, "banned_until", until, now)
	}
	return nil
}
