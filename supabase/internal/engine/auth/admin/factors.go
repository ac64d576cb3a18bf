package admin

import (
	"cmp"
	"net/http"

	"github.com/go-chi/chi/v5"
	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/engine/auth/endpoint"
	"daawo/supabase/internal/engine/auth/store"
)

// ListFactors serves GET /admin/users/{id}/factors.
func (s *Service) ListFactors(w http.ResponseWriter, _ *http.Request, _, u *store.User) error {
	return endpoint.SendJSON(w, http.StatusOK, u.Factors)
}

// DeleteFactor serves DELETE /admin/users/{id}/factors/{id}.
func (s *Service) DeleteFactor(w http.ResponseWriter, r *http.Request, _, u *store.User) error {
	f, err := store.FactorByID(r.Context(), s.DB.Pgx(), u, chi.URLParam(r, "factor_id"))
	if err != nil {
		return err
	}
	ctx := r.Context()
	_, err = store.InTx(ctx, s.DB, func(tx pgx.Tx) (any, error) {
		if err := store.DeleteFactor(ctx, tx, f); err != nil {
			return nil, err
		}
		return nil, s.Store.Audit(ctx, tx, u, "factor_deleted", map[string]any{"user_id": u.ID, "factor_id": f.ID})
	})
	if err != nil {
		return err
	}
	return endpoint.SendJSON(w, http.StatusOK, f.Factor)
}

// UpdateFactor serves PUT /admin/users/{id}/factors/{id}.
func (s *Service) UpdateFactor(w http.ResponseWriter, r *http.Request, admin, u *store.User) error {
	f, err := store.FactorByID(r.Context(), s.DB.Pgx(), u, chi.URLParam(r, "factor_id"))
	if err != nil {
		return err
	}
	var p struct {
		FriendlyName string `json:"friendly_name"`
		Phone        string `json:"phone"`
	}
	if err := endpoint.ReadJSON(r, &p); err != nil {
		return err
	}
	if p.Phone != "" && f.FactorType == "phone" {
		if f.Phone, err = endpoint.ValidPhone(p.Phone); err != nil {
			return err
		}
	}
	p.FriendlyName = cmp.Or(p.FriendlyName, f.FriendlyName)
	f.FriendlyName, f.UpdatedAt = p.FriendlyName, s.Now()
	ctx := r.Context()
	_, err = store.InTx(ctx, s.DB, func(tx pgx.Tx) (any, error) {
		if _, err := tx.Exec(ctx,
			`update auth.mfa_factors set friendly_name = $2, phone = nullif($3, ''), updated_at = $4 where id = $1`,
			f.ID, f.FriendlyName, f.Phone, f.UpdatedAt); err != nil {
			return nil, err
		}
		return nil, s.Store.Audit(ctx, tx, admin, "factor_updated",
			map[string]any{"user_id": u.ID, "factor_id": f.ID, "factor_type": f.FactorType})
	})
	if err != nil {
		return err
	}
	return endpoint.SendJSON(w, http.StatusOK, f.Factor)
}

// ListPasskeys serves GET /admin/users/{id}/passkeys.
func (s *Service) ListPasskeys(w http.ResponseWriter, r *http.Request, _, u *store.User) error {
	keys, err := store.FindPasskeys(r.Context(), s.DB.Pgx(), u.ID)
	if err != nil {
		return err
	}
	return endpoint.SendJSON(w, http.StatusOK, keys)
}

// DeletePasskey serves DELETE /admin/users/{id}/passkeys/{id}.
func (s *Service) DeletePasskey(w http.ResponseWriter, r *http.Request, admin, u *store.User) error {
	if err := s.Store.RemovePasskey(r.Context(), u, admin, chi.URLParam(r, "passkey_id")); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
