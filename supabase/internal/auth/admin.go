package auth

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/auth/endpoint"
	"daawo/supabase/internal/auth/password"
	"daawo/supabase/internal/auth/store"
	"daawo/supabase/internal/db"
	"daawo/supabase/internal/wire"
)

type adminUser struct {
	ID           string         `json:"id"`
	Audience     string         `json:"aud"`
	Role         string         `json:"role"`
	Email        string         `json:"email"`
	Phone        string         `json:"phone"`
	Password     *string        `json:"password"`
	PasswordHash string         `json:"password_hash"`
	EmailConfirm bool           `json:"email_confirm"`
	PhoneConfirm bool           `json:"phone_confirm"`
	UserMetadata map[string]any `json:"user_metadata"`
	AppMetadata  map[string]any `json:"app_metadata"`
	BanDuration  string         `json:"ban_duration"`
}

// adminListUsers answers GET /admin/users with pages of 50 by default, newest first.
func (e *Engine) adminListUsers(w http.ResponseWriter, r *http.Request, _ *store.User) error {
	q := r.URL.Query()
	page, perPage, err := endpoint.Page(q)
	if err != nil {
		return err
	}
	order, err := userOrder(q["sort"])
	if err != nil {
		return err
	}
	ctx, aud := r.Context(), e.sessions.Audience(r, nil)
	const filter = `where u.aud = $1 and ($2 = '' or u.email like '%' || $2 || '%' or u.raw_user_meta_data ->> 'full_name' ilike '%' || $2 || '%')`
	var total uint64
	if err := e.db.Pgx().QueryRow(ctx, `select count(*) from auth.users u `+filter, aud, q.Get("filter")).Scan(&total); err != nil {
		return err
	}
	users, err := store.FindUsers(ctx, e.db.Pgx(), filter+` order by u.created_at `+order+`, u.id limit $3 offset $4`,
		aud, q.Get("filter"), perPage, (page-1)*perPage)
	if err != nil {
		return err
	}
	for _, u := range users {
		u.Identities, u.Factors = nil, nil // lists leave them out
	}
	if users == nil {
		users = []*store.User{}
	}
	endpoint.SetPages(w.Header(), r.URL, page, perPage, total)
	return endpoint.SendJSON(w, http.StatusOK, struct {
		Users    []*store.User `json:"users"`
		Audience string        `json:"aud"`
	}{users, aud})
}

func userOrder(sort []string) (string, error) {
	if len(sort) == 0 {
		return "desc", nil
	}
	field, direction, _ := strings.Cut(sort[0], " ")
	if field != "created_at" {
		return "", wire.Errorf(http.StatusBadRequest, "validation_failed", "Bad Sort Parameters: bad field for sort '%s'", field)
	}
	switch strings.ToLower(direction) {
	case "", "desc":
		return "desc", nil
	case "asc":
		return "asc", nil
	}
	return "", wire.Errorf(http.StatusBadRequest, "validation_failed", "Bad Sort Parameters: bad direction for sort '%s', only 'asc' and 'desc' allowed", direction)
}

// adminSubject loads the user whom an administrator's request names.
func (e *Engine) adminSubject(r *http.Request) (*store.User, error) {
	id, err := uuid.Parse(chi.URLParam(r, "user_id"))
	if err != nil {
		return nil, wire.Errorf(http.StatusNotFound, "validation_failed", "user_id must be an UUID")
	}
	u, err := store.UserByID(r.Context(), e.db.Pgx(), id)
	if errors.Is(err, store.ErrNotFound) {
		return nil, errNoUser
	}
	return u, err
}

var errNoUser = wire.Errorf(http.StatusNotFound, "user_not_found", "User not found")

func (e *Engine) adminGetUser(w http.ResponseWriter, r *http.Request, _ *store.User) error {
	u, err := e.adminSubject(r)
	if err != nil {
		return err
	}
	return endpoint.SendJSON(w, http.StatusOK, u)
}

// adminCreateUser makes an account, confirmed or not, without sending anything.
func (e *Engine) adminCreateUser(w http.ResponseWriter, r *http.Request, admin *store.User) error {
	var p adminUser
	if err := endpoint.ReadJSON(r, &p); err != nil {
		return err
	}
	u, hash, err := e.prepareUser(r, &p)
	if err != nil {
		return err
	}
	ctx := r.Context()
	_, err = store.InTx(ctx, e.db, func(tx pgx.Tx) (any, error) {
		u.EncryptedPassword = &hash
		if err := store.InsertUser(ctx, tx, u); err != nil {
			if db.IsCode(err, "23505") {
				return nil, wire.Errorf(http.StatusUnprocessableEntity, "email_exists", "A user with this email address has already been registered").WithCause(err)
			}
			return nil, store.DatabaseError(err, "Database error creating new user")
		}
		for _, known := range []struct{ provider, value string }{{"email", u.Email}, {"phone", u.Phone}} {
			if known.value == "" {
				continue
			}
			data := store.Metadata{"sub": u.ID.String(), "email_verified": false, "phone_verified": false, known.provider: known.value}
			if err := store.InsertIdentity(ctx, tx, u, known.provider, data, e.now()); err != nil {
				return nil, err
			}
		}
		if p.AppMetadata != nil {
			if err := store.SaveAppMetadata(ctx, tx, u, u.AppMetadata.Merge(p.AppMetadata), e.now()); err != nil {
				return nil, err
			}
		}
		if err := e.applyConfirmations(ctx, tx, u, p); err != nil {
			return nil, err
		}
		return nil, e.store.Audit(ctx, tx, admin, "user_signedup", map[string]any{
			"user_id": u.ID, "user_email": u.Email, "user_phone": u.Phone, "provider": u.AppMetadata["provider"],
		})
	})
	if err != nil {
		return err
	}
	return endpoint.SendJSON(w, http.StatusOK, u)
}

// prepareUser validates a new account and makes its row and its password's hash.
func (e *Engine) prepareUser(r *http.Request, p *adminUser) (*store.User, string, error) {
	bad := func(format string, args ...any) (*store.User, string, error) {
		return nil, "", wire.Errorf(http.StatusBadRequest, "validation_failed", format, args...)
	}
	ctx, now := r.Context(), e.now()
	u := &store.User{ID: uuid.New(), Audience: p.Audience, Role: p.Role, AppMetadata: store.Metadata{}, UserMetadata: store.Metadata{}.Merge(p.UserMetadata),
		Identities: []store.Identity{}, CreatedAt: now, UpdatedAt: now}
	if u.Audience == "" {
		u.Audience = e.sessions.Audience(r, nil)
	}
	if u.Role == "" {
		u.Role = e.config.DefaultRole
	}
	if p.Email == "" && p.Phone == "" {
		return bad("Cannot create a user without either an email or phone")
	}
	if err := e.checkContacts(ctx, u, p); err != nil {
		return nil, "", err
	}
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
			return nil, "", wire.Errorf(http.StatusInternalServerError, "", "Error creating user").WithCause(err)
		}
		return u, p.PasswordHash, nil
	}
	secret := e.passwords.Random()
	if p.Password != nil && *p.Password != "" {
		secret = *p.Password
	}
	if len(secret) > password.MaxLength {
		return bad("bcrypt: password length exceeds 72 bytes")
	}
	hash, err := e.passwords.Hash(ctx, secret)
	return u, hash, err
}

// checkContacts validates address and number, checks that nobody else has them, and puts them into u.
func (e *Engine) checkContacts(ctx context.Context, u *store.User, p *adminUser) error {
	var err error
	if p.Email != "" {
		if p.Email, err = endpoint.ValidEmail(p.Email); err != nil {
			return err
		}
		if p.Email != u.Email {
			other, err := store.UserOfEmail(ctx, e.db.Pgx(), p.Email, u.Audience)
			if err != nil && !errors.Is(err, store.ErrNotFound) {
				return err
			}
			if other != nil && other.ID != u.ID {
				return wire.Errorf(http.StatusUnprocessableEntity, "email_exists", "A user with this email address has already been registered")
			}
		}
		u.Email = p.Email
	}
	if p.Phone != "" {
		if p.Phone, err = endpoint.ValidPhone(p.Phone); err != nil {
			return err
		}
		if p.Phone != u.Phone {
			if err := taken(store.UserByPhone(ctx, e.db.Pgx(), p.Phone, u.Audience)); errors.Is(err, errTaken) {
				return wire.Errorf(http.StatusUnprocessableEntity, "phone_exists", "Phone number already registered by another user")
			} else if err != nil {
				return err
			}
		}
		u.Phone = p.Phone
	}
	return nil
}

func (e *Engine) applyConfirmations(ctx context.Context, tx pgx.Tx, u *store.User, p adminUser) error {
	if p.EmailConfirm {
		if err := store.ConfirmEmail(ctx, tx, u, e.now()); err != nil {
			return err
		}
	}
	if p.PhoneConfirm {
		return store.ConfirmPhone(ctx, tx, u, e.now())
	}
	return nil
}

// adminUpdateUser changes an account at once: nothing is sent and nothing must be confirmed.
func (e *Engine) adminUpdateUser(w http.ResponseWriter, r *http.Request, admin *store.User) error {
	u, err := e.adminSubject(r)
	if err != nil {
		return err
	}
	var p adminUser
	if err := endpoint.ReadJSON(r, &p); err != nil {
		return err
	}
	ctx := r.Context()
	if err := e.checkContacts(ctx, u, &p); err != nil {
		return err
	}
	hash := ""
	if p.Password != nil {
		if err := e.passwords.Check(*p.Password); err != nil {
			return err
		}
		if hash, err = e.passwords.Hash(ctx, *p.Password); err != nil {
			return err
		}
	}
	_, err = store.InTx(ctx, e.db, func(tx pgx.Tx) (any, error) {
		// What was changed while this waited for its turn to hash stays.
		if err := store.ReloadUser(ctx, tx, u); errors.Is(err, store.ErrNotFound) {
			return nil, errNoUser
		} else if err != nil {
			return nil, err
		}
		if err := e.applyAdminUpdate(ctx, tx, u, p, hash); err != nil {
			return nil, err
		}
		return nil, e.store.Audit(ctx, tx, admin, "user_modified", map[string]any{"user_id": u.ID, "user_email": u.Email, "user_phone": u.Phone})
	})
	if err != nil {
		return err
	}
	return endpoint.SendJSON(w, http.StatusOK, u)
}

func (e *Engine) applyAdminUpdate(ctx context.Context, tx pgx.Tx, u *store.User, p adminUser, hash string) error {
	now := e.now()
	if p.Role != "" {
		u.Role = p.Role
		if err := store.SetColumn(ctx, tx, u, "role", p.Role, now); err != nil {
			return err
		}
	}
	if err := e.applyConfirmations(ctx, tx, u, p); err != nil {
		return err
	}
	if hash != "" {
		if err := store.SavePassword(ctx, tx, u, hash, nil, now); err != nil {
			return err
		}
	}
	for _, c := range []struct {
		provider, value string
		field           *string
		confirmed       bool
		exists          *wire.Error
	}{{"email", p.Email, &u.Email, p.EmailConfirm, store.ErrEmailExists}, {"phone", p.Phone, &u.Phone, p.PhoneConfirm, store.ErrPhoneExists}} {
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

// adminDeleteUser removes an account, or with should_soft_delete all that tells who it was.
func (e *Engine) adminDeleteUser(w http.ResponseWriter, r *http.Request, admin *store.User) error {
	u, err := e.adminSubject(r)
	if err != nil {
		return err
	}
	var p struct {
		Soft bool `json:"should_soft_delete"`
	}
	if r.ContentLength != 0 {
		if err := endpoint.ReadJSON(r, &p); err != nil {
			return err
		}
	}
	ctx := r.Context()
	_, err = store.InTx(ctx, e.db, func(tx pgx.Tx) (any, error) {
		traits := map[string]any{"user_id": u.ID, "user_email": u.Email, "user_phone": u.Phone}
		if err := e.store.Audit(ctx, tx, admin, "user_deleted", traits); err != nil {
			return nil, err
		}
		if p.Soft {
			return nil, store.SoftDelete(ctx, tx, u, e.now())
		}
		_, err := tx.Exec(ctx, `delete from auth.users where id = $1`, u.ID)
		return nil, err
	})
	if err != nil {
		return err
	}
	return endpoint.SendJSON(w, http.StatusOK, struct{}{})
}
