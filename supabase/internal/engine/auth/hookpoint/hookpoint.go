// Package hookpoint calls the hooks that an installation has configured at the points of auth.
package hookpoint

import (
	"fmt"
	"net/http"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/engine/auth/endpoint"
	"daawo/supabase/internal/engine/auth/hook"
	"daawo/supabase/internal/engine/auth/store"
)

// Hooks are the hooks by point. A hook without a URI is not called.
type Hooks struct {
	CustomAccessToken, SendEmail, SendSMS               hook.Hook
	PasswordVerificationAttempt, MFAVerificationAttempt hook.Hook
	BeforeUserCreated, AfterUserCreated                 hook.Hook
}

// Validate returns an error if a hook cannot be called.
func (h Hooks) Validate() error {
	for name, h := range map[string]hook.Hook{
		"custom_access_token": h.CustomAccessToken, "send_email": h.SendEmail, "send_sms": h.SendSMS,
		"password_verification_attempt": h.PasswordVerificationAttempt,
		"mfa_verification_attempt":      h.MFAVerificationAttempt, "before_user_created": h.BeforeUserCreated,
		"after_user_created": h.AfterUserCreated,
	} {
		if err := h.Validate(); err != nil {
			return fmt.Errorf("hook %s: %w", name, err)
		}
	}
	return nil
}

// Caller calls the hooks.
type Caller struct {
	Hooks
	DB   *pool.Pool // as supabase_auth_admin
	Hook hook.Caller
}

// metadata identifies a call to the hook.
type metadata struct {
	UUID    uuid.UUID `json:"uuid"`
	Time    time.Time `json:"time"`
	Name    string    `json:"name,omitempty"`
	Address string    `json:"ip_address,omitempty"`
}

// Call calls a hook within tx. If tx is nil, a database function gets a transaction of its own; an
// HTTP service is called without a connection.
func (c *Caller) Call(r *http.Request, tx pgx.Tx, h hook.Hook, name string, input map[string]any, output any) error {
	input["metadata"] = metadata{uuid.New(), c.Hook.Now(), name, endpoint.ClientOf(r).Address}
	var err error
	if tx != nil || !h.InDatabase() {
		err = c.Hook.Call(r.Context(), tx, h, input, output)
	} else {
		err = c.DB.Tx(r.Context(), pool.Caller{}, pgx.TxOptions{}, func(tx pgx.Tx) error {
			return c.Hook.Call(r.Context(), tx, h, input, output)
		})
	}
	if pool.IsUnavailable(err) {
		return err
	}
	return store.DatabaseError(err, "Error running hook URI: "+h.URI)
}

// BeforeUserCreated lets a hook refuse a new account. tx may be nil, as in Call.
func (c *Caller) BeforeUserCreated(r *http.Request, tx pgx.Tx, user any) error {
	if !c.Hooks.BeforeUserCreated.Enabled() {
		return nil
	}
	return c.Call(r, tx, c.Hooks.BeforeUserCreated, "before-user-created", map[string]any{"user": user}, &struct{}{})
}

// AfterUserCreated tells a hook about a new account.
func (c *Caller) AfterUserCreated(r *http.Request, user any) error {
	if !c.Hooks.AfterUserCreated.Enabled() {
		return nil
	}
	return c.Call(r, nil, c.Hooks.AfterUserCreated, "after-user-created", map[string]any{"user": user}, &struct{}{})
}

// Verdict is the reply of the hooks for verification attempts.
type Verdict struct {
	Decision string `json:"decision"`
	Message  string `json:"message"`
	Logout   bool   `json:"should_logout_user"`
}

// Rejected reports whether the attempt must not go on.
func (v Verdict) Rejected() bool { return v.Decision == "reject" }
