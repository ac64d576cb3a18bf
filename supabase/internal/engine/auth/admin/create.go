package admin

import (
	"context"
	"net/http"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/engine/auth/endpoint"
	"daawo/supabase/internal/engine/auth/password"
	"daawo/supabase/internal/engine/auth/store"
)

// CreateUser serves POST /admin/users: it makes an account, confirmed or not, without sending
// anything.
func (s *Service) CreateUser(w http.ResponseWriter, r *http.Request, admin *store.User) error {
	var p adminUser
	if err := endpoint.ReadJSON(r, &p); err != nil {
		return err
	}
	u, hash, err := s.prepareUser(r, &p)
	if err != nil {
		return err
	}
	ctx := r.Context()
	_, err = store.InTx(ctx, s.DB, func(tx pgx.Tx) (any, error) {
		u.EncryptedPassword = &hash
		if err := store.InsertUser(ctx, tx, u); err != nil {
			return nil, store.InsertError(err, "Database error creating new user")
		}
		for _, known := range []struct{ provider, value string }{{"email", u.Email}, {"phone", u.Phone}} {
			if known.value == "" {
				continue
			}
			data := store.Metadata{"sub": u.ID.String(), "email_verified": false, "phone_verified": false,
				known.provider: known.value}
			if err := store.InsertIdentity(ctx, tx, u, known.provider, data, s.Now()); err != nil {
				return nil, err
			}
		}
		if p.AppMetadata != nil {
			if err := store.SaveAppMetadata(ctx, tx, u, u.AppMetadata.Merge(p.AppMetadata), s.Now()); err != nil {
				return nil, err
			}
		}
		if err := s.applyConfirmations(ctx, tx, u, p); err != nil {
			return nil, err
		}
		return nil, s.Store.Audit(ctx, tx, admin, "user_signedup", map[string]any{
			"user_id": u.ID, "user_email": u.Email, "user_phone": u.Phone, "provider": u.AppMetadata["provider"],
		})
	})
	if err != nil {
		return err
	}
	return endpoint.SendJSON(w, http.StatusOK, u)
}

// prepareUser validates a new account and returns its row and the hash of its password.
func (s *Service) prepareUser(r *http.Request, p *adminUser) (*store.User, string, error) {
	bad := func(format string, args ...any) (*store.User, string, error) {
		return nil, "", apierror.Errorf(http.StatusBadRequest, "validation_failed", format, args...)
	}
	ctx, now := r.Context(), s.Now()
	u := &store.User{ID: uuid.New(), Audience: p.Audience, Role: p.Role,
		UserMetadata: store.Metadata(p.UserMetadata).Copy(), Identities: []store.Identity{}, CreatedAt: now,
		UpdatedAt: now}
	if u.Audience == "" {
		u.Audience = s.Sessions.Audience(r, nil)
	}
	if u.Role == "" {
		u.Role = s.Config.DefaultRole
	}
	if p.Email == "" && p.Phone == "" {
		return bad("Cannot create a user without either an email or phone")
	}
	if err := s.checkContacts(ctx, u, p); err != nil {
		return nil, "", err
	}
	var providers []string
	if u.Email != "" {
		providers = append(providers, "email")
	}
	if u.Phone != "" {
		providers = append(providers, "phone")
	}
	u.AppMetadata = store.Metadata{"provider": providers[0], "providers": providers}
	if p.Password != nil && p.PasswordHash != "" {
		return bad("Only a password or a password hash should be provided")
	}
	if p.ID != "" {
		id, err := uuid.Parse(p.ID)
		if err != nil {
			return bad("ID must conform to the uuid v4 format")
		}
		if id == uuid.Nil {
			return bad("ID cannot be a nil uuid")
		}
		u.ID = id
	}
	if p.BanDuration != "" {
		var err error
		if u.BannedUntil, err = banUntil(p.BanDuration, now); err != nil {
			return nil, "", err
		}
	}
	if p.PasswordHash != "" {
		if err := password.Check(p.PasswordHash); err != nil {
			return nil, "", apierror.Errorf(http.StatusInternalServerError, "", "Error creating user").WithCause(err)
		}
		return u, p.PasswordHash, nil
	}
	secret := s.Passwords.Random()
	if p.Password != nil && *p.Password != "" {
		secret = *p.Password
	}
	if len(secret) > password.MaxLength {
		return bad("bcrypt: password length exceeds 72 bytes")
	}
	hash, err := s.Passwords.Hash(ctx, secret)
	return u, hash, err
}

// checkContacts validates address and number and puts them into u. It returns an error if another
// user has them.
func (s *Service) checkContacts(ctx context.Context, u *store.User, p *adminUser) error {
	var err error
	if p.Email != "" {
		if p.Email, err = endpoint.ValidEmail(p.Email); err != nil {
			return err
		}
		if p.Email != u.Email {
			if taken, err := store.EmailTaken(ctx, s.DB.Pgx(), p.Email, u); err != nil {
				return err
			} else if taken {
				return store.ErrEmailExists
			}
		}
		u.Email = p.Email
	}
	if p.Phone != "" {
		if p.Phone, err = endpoint.ValidPhone(p.Phone); err != nil {
			return err
		}
		if p.Phone != u.Phone {
			if taken, err := store.PhoneTaken(ctx, s.DB.Pgx(), p.Phone); err != nil {
				return err
			} else if taken {
				return apierror.Errorf(http.StatusUnprocessableEntity, "phone_exists",
					"Phone number already registered by another user")
			}
		}
		u.Phone = p.Phone
	}
	return nil
}

// applyConfirmations confirms the contacts that the request confirms.
func (s *Service) applyConfirmations(ctx context.Context, tx pgx.Tx, u *store.User, p adminUser) error {
	if p.EmailConfirm {
		if err := store.ConfirmEmail(ctx, tx, u, s.Now()); err != nil {
			return err
		}
	}
	if p.PhoneConfirm {
		return store.ConfirmPhone(ctx, tx, u, s.Now())
	}
	return nil
}

// banUntil returns the end of a ban from a duration such as "24h"; nil for "none", which ends a
// ban.
func banUntil(text string, now time.Time) (*time.Time, error) {
	if text == "none" {
		return nil, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return nil, apierror.Errorf(http.StatusBadRequest, "validation_failed", "invalid format for ban duration: %v",
			err)
	}
	if d == 0 {
		return nil, nil
	}
	until := now.Add(d)
	return &until, nil
}
