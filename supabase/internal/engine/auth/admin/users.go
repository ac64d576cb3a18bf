package admin

import (
	"errors"
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/engine/auth/endpoint"
	"daawo/supabase/internal/engine/auth/store"
)

// adminUser is the body of POST and PUT /admin/users.
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

// ListUsers serves GET /admin/users in pages of 50 by default, newest first.
func (s *Service) ListUsers(w http.ResponseWriter, r *http.Request, _ *store.User) error {
	q := r.URL.Query()
	page, perPage, err := endpoint.Page(q)
	if err != nil {
		return err
	}
	order, err := userOrder(q["sort"])
	if err != nil {
		return err
	}
	ctx, aud := r.Context(), s.Sessions.Audience(r, nil)
	const filter = `where u.aud = $1
		and ($2 = '' or u.email like '%' || $2 || '%' or u.raw_user_meta_data ->> 'full_name' ilike '%' || $2 || '%')`
	var total uint64
	if err := s.DB.Pgx().QueryRow(ctx, `select count(*) from auth.users u `+filter, aud,
		q.Get("filter")).Scan(&total); err != nil {
		return err
	}
	users, err := store.FindUsers(ctx, s.DB.Pgx(), filter+` order by u.created_at `+order+`, u.id limit $3 offset $4`,
		aud, q.Get("filter"), perPage, (page-1)*perPage)
	if err != nil {
		return err
	}
	for _, u := range users {
		u.Identities, u.Factors = nil, nil // a list does not contain them
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
		return "", apierror.Errorf(http.StatusBadRequest, "validation_failed",
			"Bad Sort Parameters: bad field for sort '%s'", field)
	}
	switch strings.ToLower(direction) {
	case "", "desc":
		return "desc", nil
	case "asc":
		return "asc", nil
	}
	return "", apierror.Errorf(http.StatusBadRequest, "validation_failed",
		"Bad Sort Parameters: bad direction for sort '%s', only 'asc' and 'desc' allowed", direction)
}

// userOf returns the user that the URL names, or the reply to a bad or unknown id.
func (s *Service) userOf(r *http.Request) (*store.User, error) {
	id, err := uuid.Parse(chi.URLParam(r, "user_id"))
	if err != nil {
		return nil, apierror.Errorf(http.StatusNotFound, "validation_failed", "user_id must be an UUID")
	}
	u, err := store.UserByID(r.Context(), s.DB.Pgx(), id)
	if errors.Is(err, store.ErrNotFound) {
		return nil, errNoUser
	}
	return u, err
}

var errNoUser = apierror.Errorf(http.StatusNotFound, "user_not_found", "User not found")

// GetUser serves GET /admin/users/{id}.
func (s *Service) GetUser(w http.ResponseWriter, r *http.Request, _ *store.User) error {
	u, err := s.userOf(r)
	if err != nil {
		return err
	}
	return endpoint.SendJSON(w, http.StatusOK, u)
}

// DeleteUser serves DELETE /admin/users/{id}: it deletes an account, or with should_soft_delete its
// personal data.
func (s *Service) DeleteUser(w http.ResponseWriter, r *http.Request, admin *store.User) error {
	u, err := s.userOf(r)
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
	_, err = store.InTx(ctx, s.DB, func(tx pgx.Tx) (any, error) {
		traits := map[string]any{"user_id": u.ID, "user_email": u.Email, "user_phone": u.Phone}
		if err := s.Store.Audit(ctx, tx, admin, "user_deleted", traits); err != nil {
			return nil, err
		}
		if p.Soft {
			return nil, store.SoftDelete(ctx, tx, u, s.Now())
		}
		_, err := tx.Exec(ctx, `delete from auth.users where id = $1`, u.ID)
		return nil, err
	})
	if err != nil {
		return err
	}
	return endpoint.SendJSON(w, http.StatusOK, struct{}{})
}

// OfUser calls h with the user that the URL of an administrator names.
func (s *Service) OfUser(h func(w http.ResponseWriter, r *http.Request, admin,
	subject *store.User) error) func(http.ResponseWriter, *http.Request) error {
	return s.Sessions.AsAdmin(func(w http.ResponseWriter, r *http.Request, admin *store.User) error {
		u, err := s.userOf(r)
		if err != nil {
			return err
		}
		return h(w, r, admin, u)
	})
}
