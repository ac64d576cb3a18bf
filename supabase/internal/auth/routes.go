package auth

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"daawo/supabase/internal/auth/endpoint"
	"daawo/supabase/internal/auth/ratelimit"
	"daawo/supabase/internal/auth/store"
	"daawo/supabase/internal/wire"
)

// routes is the API, as GoTrue's openapi.yaml lists it; docs/auth.md says of each endpoint what it does here.
func (e *Engine) routes() http.Handler {
	r := chi.NewRouter()
	r.NotFound(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "404 page not found", http.StatusNotFound) })
	r.MethodNotAllowed(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusMethodNotAllowed) })
	get := func(path string, h endpoint.Handler) { r.Get(path, e.handle(h)) }
	post := func(path string, h endpoint.Handler) { r.Post(path, e.handle(h)) }
	put := func(path string, h endpoint.Handler) { r.Put(path, e.handle(h)) }
	remove := func(path string, h endpoint.Handler) { r.Delete(path, e.handle(h)) }

	get("/health", e.health)
	get("/settings", e.settings)
	get("/.well-known/jwks.json", e.jwks)
	get("/.well-known/openid-configuration", e.openID)
	get("/.well-known/oauth-authorization-server", e.provider.Enabled(e.openID))

	post("/signup", e.captcha.Required(e.signup))
	post("/token", e.token)
	post("/otp", e.limiter.Limited(ratelimit.OTP, e.captcha.Required(e.otp)))
	post("/magiclink", e.limiter.Limited(ratelimit.MagicLink, e.captcha.Required(e.magiclink)))
	post("/recover", e.limiter.Limited(ratelimit.Recover, e.captcha.Required(e.recover)))
	post("/resend", e.limiter.Limited(ratelimit.Resend, e.captcha.Required(e.resend)))
	get("/verify", e.limiter.Limited(ratelimit.Verify, e.verifyGet))
	post("/verify", e.limiter.Limited(ratelimit.Verify, e.verifyPost))
	post("/logout", e.sessions.AsBearer(e.logout))
	get("/reauthenticate", e.sessions.AsUser(e.reauthenticate))
	get("/user", e.sessions.AsBearer(e.getUser))
	put("/user", e.limiter.Limited(ratelimit.User, e.sessions.AsUser(e.updateUser)))

	get("/authorize", e.external.Authorize)
	get("/callback", e.external.Callback)
	post("/callback", e.external.Callback)
	get("/user/identities/authorize", e.external.Linking(e.external.LinkIdentity))
	remove("/user/identities/{identity_id}", e.external.Linking(e.external.UnlinkIdentity))

	post("/factors", e.mfa.AsFactorUser(e.mfa.Enroll))
	post("/factors/{factor_id}/challenge", e.limiter.Limited(ratelimit.Challenge, e.mfa.AsFactorUser(e.mfa.Challenge)))
	post("/factors/{factor_id}/verify", e.limiter.Limited(ratelimit.FactorAnswer, e.mfa.AsFactorUser(e.mfa.Verify)))
	remove("/factors/{factor_id}", e.mfa.AsFactorUser(e.mfa.Unenroll))

	post("/passkeys/authentication/options", e.mfa.Passkeys(e.limiter.Limited(ratelimit.Passkey, e.captcha.Required(e.mfa.LoginOptions))))
	post("/passkeys/authentication/verify", e.mfa.Passkeys(e.mfa.Login))
	post("/passkeys/registration/options", e.mfa.Passkeys(e.mfa.AsFactorUser(e.mfa.RegistrationOptions)))
	post("/passkeys/registration/verify", e.mfa.Passkeys(e.mfa.AsFactorUser(e.mfa.Register)))
	for _, list := range []string{"/passkeys", "/passkeys/"} {
		get(list, e.mfa.Passkeys(e.sessions.AsUser(e.mfa.ListPasskeys)))
	}
	r.Patch("/passkeys/{passkey_id}", e.handle(e.mfa.Passkeys(e.sessions.AsUser(e.mfa.RenamePasskey))))
	remove("/passkeys/{passkey_id}", e.mfa.Passkeys(e.sessions.AsUser(e.mfa.DeletePasskey)))

	get("/oauth/authorize", e.provider.Enabled(e.limiter.Limited(ratelimit.OAuth, e.provider.Authorize)))
	get("/oauth/authorizations/{authorization_id}", e.provider.Enabled(e.provider.FromSite(e.sessions.AsUser(e.provider.Details))))
	post("/oauth/authorizations/{authorization_id}/consent", e.provider.Enabled(e.provider.FromSite(e.sessions.AsUser(e.provider.Consent))))
	post("/oauth/token", e.provider.Enabled(e.limiter.Limited(ratelimit.OAuth, e.provider.Token)))
	get("/oauth/userinfo", e.provider.Enabled(e.sessions.AsBearer(e.provider.UserInfo)))
	post("/oauth/clients/register", e.provider.Enabled(e.limiter.Limited(ratelimit.Register, e.provider.RegisterClient)))
	get("/user/oauth/grants", e.sessions.AsUser(e.provider.EnabledForUser(e.provider.ListGrants)))
	remove("/user/oauth/grants", e.sessions.AsUser(e.provider.EnabledForUser(e.provider.RevokeGrant)))

	post("/invite", e.sessions.AsAdmin(e.admin.Invite))
	post("/admin/generate_link", e.sessions.AsAdmin(e.admin.GenerateLink))
	get("/admin/audit", e.sessions.AsAdmin(e.admin.Audit))
	get("/admin/users", e.sessions.AsAdmin(e.admin.ListUsers))
	post("/admin/users", e.sessions.AsAdmin(e.admin.CreateUser))
	get("/admin/users/{user_id}", e.sessions.AsAdmin(e.admin.GetUser))
	put("/admin/users/{user_id}", e.sessions.AsAdmin(e.admin.UpdateUser))
	remove("/admin/users/{user_id}", e.sessions.AsAdmin(e.admin.DeleteUser))
	get("/admin/users/{user_id}/factors", e.admin.OfUser(e.admin.ListFactors))
	put("/admin/users/{user_id}/factors/{factor_id}", e.admin.OfUser(e.admin.UpdateFactor))
	remove("/admin/users/{user_id}/factors/{factor_id}", e.admin.OfUser(e.admin.DeleteFactor))
	get("/admin/users/{user_id}/passkeys", e.admin.OfUser(e.admin.ListPasskeys))
	remove("/admin/users/{user_id}/passkeys/{passkey_id}", e.admin.OfUser(e.admin.DeletePasskey))
	get("/admin/oauth/clients", e.provider.AsClientAdmin(e.provider.ListClients))
	post("/admin/oauth/clients", e.provider.AsClientAdmin(e.provider.CreateClient))
	get("/admin/oauth/clients/{client_id}", e.provider.OfClient(e.provider.GetClient))
	put("/admin/oauth/clients/{client_id}", e.provider.OfClient(e.provider.UpdateClient))
	remove("/admin/oauth/clients/{client_id}", e.provider.OfClient(e.provider.DeleteClient))
	post("/admin/oauth/clients/{client_id}/regenerate_secret", e.provider.OfClient(e.provider.RenewSecret))

	get("/admin/custom-providers", e.external.AsCustomAdmin(e.external.ListCustom))
	post("/admin/custom-providers", e.external.AsCustomAdmin(e.external.CreateCustom))
	get("/admin/custom-providers/{identifier}", e.external.OfCustom(e.external.GetCustom))
	put("/admin/custom-providers/{identifier}", e.external.OfCustom(e.external.UpdateCustom))
	remove("/admin/custom-providers/{identifier}", e.external.OfCustom(e.external.DeleteCustom))

	e.disabled(r)
	return r
}

// disabled are the parts that a GoTrue can have and this engine has not: they answer as one that has them turned off.
func (e *Engine) disabled(r chi.Router) {
	off := func(code, text string) http.HandlerFunc {
		return e.handle(func(http.ResponseWriter, *http.Request) error {
			return wire.Errorf(http.StatusNotFound, code, "%s", text)
		})
	}
	saml := off("saml_provider_disabled", "SAML 2.0 is disabled")
	r.HandleFunc("/sso", saml)
	r.HandleFunc("/sso/*", saml)
	r.HandleFunc("/scim/*", off("feature_disabled", "SCIM server is disabled"))
	// These are for administrators: others learn nothing.
	admin := func(code, text string) http.HandlerFunc {
		return e.handle(e.sessions.AsAdmin(func(http.ResponseWriter, *http.Request, *store.User) error {
			return wire.Errorf(http.StatusNotFound, code, "%s", text)
		}))
	}
	r.Get("/admin/sso/providers", e.handle(e.sessions.AsAdmin(func(w http.ResponseWriter, _ *http.Request, _ *store.User) error {
		return endpoint.SendJSON(w, http.StatusOK, map[string]any{"items": []any{}})
	})))
	for _, path := range []string{"/admin/sso/providers", "/admin/sso/providers/*"} {
		r.Post(path, admin("saml_provider_disabled", "SAML 2.0 is disabled"))
		r.Put(path, admin("saml_provider_disabled", "SAML 2.0 is disabled"))
		r.Delete(path, admin("sso_provider_not_found", "SSO Identity Provider not found"))
	}
	r.Get("/admin/sso/providers/*", admin("sso_provider_not_found", "SSO Identity Provider not found"))
}
