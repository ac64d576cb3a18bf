package auth

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/engine/auth/endpoint"
	"daawo/supabase/internal/engine/auth/ratelimit"
)

// router adds endpoints.
type router struct {
	chi.Router
	handle func(func(http.ResponseWriter, *http.Request) error) http.HandlerFunc
}

func (r router) get(path string, h endpoint.Handler)    { r.Get(path, r.handle(h)) }
func (r router) post(path string, h endpoint.Handler)   { r.Post(path, r.handle(h)) }
func (r router) put(path string, h endpoint.Handler)    { r.Put(path, r.handle(h)) }
func (r router) patch(path string, h endpoint.Handler)  { r.Patch(path, r.handle(h)) }
func (r router) remove(path string, h endpoint.Handler) { r.Delete(path, r.handle(h)) }

// router returns the API as GoTrue's openapi.yaml lists it. docs/auth.md lists what each endpoint
// does here.
func (h *Handler) router(p *parts) http.Handler {
	r := router{chi.NewRouter(), h.handle}
	h.refuseUnknown(r, p.sessions)

	d := discovery{p.config, p.keys, p.providers, p.sso}
	r.get("/health", d.health)
	r.get("/settings", d.settings)
	r.get("/.well-known/jwks.json", d.jwks)
	r.get("/.well-known/openid-configuration", d.openID)
	r.get("/.well-known/oauth-authorization-server", p.provider.WithServer(d.openID))

	p.loginRoutes(r)
	p.externalRoutes(r)
	p.factorRoutes(r)
	p.providerRoutes(r)
	p.ssoRoutes(r)
	p.adminRoutes(r)
	r.HandleFunc("/scim/*", r.off("feature_disabled", "SCIM server is disabled")) // GoTrue has it off, too
	return r
}

// loginRoutes adds sign-up, sign-in, links and codes, and the account.
func (p *parts) loginRoutes(r router) {
	r.post("/signup", p.captcha.Required(p.login.Signup))
	r.post("/token", p.login.Token)
	r.post("/otp", p.limiter.Limited(ratelimit.OTP, p.captcha.Required(p.login.OTP)))
	r.post("/magiclink", p.limiter.Limited(ratelimit.MagicLink, p.captcha.Required(p.login.MagicLink)))
	r.post("/recover", p.limiter.Limited(ratelimit.Recover, p.captcha.Required(p.login.Recover)))
	r.post("/resend", p.limiter.Limited(ratelimit.Resend, p.captcha.Required(p.login.Resend)))
	r.get("/verify", p.limiter.Limited(ratelimit.Verify, p.verify.Link))
	r.post("/verify", p.limiter.Limited(ratelimit.Verify, p.verify.Code))
	r.post("/logout", p.sessions.AsBearer(p.account.Logout))
	r.get("/reauthenticate", p.sessions.AsUser(p.account.Reauthenticate))
	r.get("/user", p.sessions.AsBearer(p.account.GetUser))
	r.put("/user", p.limiter.Limited(ratelimit.User, p.sessions.AsUser(p.account.UpdateUser)))
}

// externalRoutes adds other identity providers and their administration.
func (p *parts) externalRoutes(r router) {
	r.get("/authorize", p.limiter.Limited(ratelimit.Authorize, p.external.Authorize))
	r.get("/callback", p.external.Callback)
	r.post("/callback", p.external.Callback)
	r.get("/user/identities/authorize",
		p.limiter.Limited(ratelimit.Authorize, p.external.WithLinking(p.external.LinkIdentity)))
	r.remove("/user/identities/{identity_id}", p.external.WithLinking(p.external.UnlinkIdentity))

	r.get("/admin/custom-providers", p.custom.AsAdmin(p.custom.List))
	r.post("/admin/custom-providers", p.custom.AsAdmin(p.custom.Create))
	r.get("/admin/custom-providers/{identifier}", p.custom.OfProvider(p.custom.Get))
	r.put("/admin/custom-providers/{identifier}", p.custom.OfProvider(p.custom.Update))
	r.remove("/admin/custom-providers/{identifier}", p.custom.OfProvider(p.custom.Delete))
}

// factorRoutes adds second factors and passkeys.
func (p *parts) factorRoutes(r router) {
	r.post("/factors", p.mfa.AsFactorUser(p.mfa.Enroll))
	r.post("/factors/{factor_id}/challenge",
		p.limiter.Limited(ratelimit.Challenge, p.mfa.AsFactorUser(p.mfa.Challenge)))
	r.post("/factors/{factor_id}/verify", p.limiter.Limited(ratelimit.FactorAnswer, p.mfa.AsFactorUser(p.mfa.Verify)))
	r.remove("/factors/{factor_id}", p.mfa.AsFactorUser(p.mfa.Unenroll))

	r.post("/passkeys/authentication/options",
		p.mfa.WithPasskeys(p.limiter.Limited(ratelimit.Passkey, p.captcha.Required(p.mfa.LoginOptions))))
	r.post("/passkeys/authentication/verify", p.mfa.WithPasskeys(p.mfa.Login))
	r.post("/passkeys/registration/options", p.mfa.WithPasskeys(p.mfa.AsFactorUser(p.mfa.RegistrationOptions)))
	r.post("/passkeys/registration/verify", p.mfa.WithPasskeys(p.mfa.AsFactorUser(p.mfa.Register)))
	for _, list := range []string{"/passkeys", "/passkeys/"} {
		r.get(list, p.mfa.WithPasskeys(p.sessions.AsUser(p.mfa.ListPasskeys)))
	}
	r.patch("/passkeys/{passkey_id}", p.mfa.WithPasskeys(p.sessions.AsUser(p.mfa.RenamePasskey)))
	r.remove("/passkeys/{passkey_id}", p.mfa.WithPasskeys(p.sessions.AsUser(p.mfa.DeletePasskey)))
}

// providerRoutes adds the OAuth 2.1 server and its administration.
func (p *parts) providerRoutes(r router) {
	r.get("/oauth/authorize", p.provider.WithServer(p.limiter.Limited(ratelimit.OAuth, p.provider.Authorize)))
	r.get("/oauth/authorizations/{authorization_id}",
		p.provider.WithServer(p.provider.FromSite(p.sessions.AsUser(p.provider.Details))))
	r.post("/oauth/authorizations/{authorization_id}/consent",
		p.provider.WithServer(p.provider.FromSite(p.sessions.AsUser(p.provider.Consent))))
	r.post("/oauth/token", p.provider.WithServer(p.limiter.Limited(ratelimit.OAuth, p.provider.Token)))
	r.get("/oauth/userinfo", p.provider.WithServer(p.sessions.AsBearer(p.provider.UserInfo)))
	r.post("/oauth/clients/register",
		p.provider.WithServer(p.limiter.Limited(ratelimit.Register, p.provider.RegisterClient)))
	r.get("/user/oauth/grants", p.sessions.AsUser(p.provider.WithServerForUser(p.provider.ListGrants)))
	r.remove("/user/oauth/grants", p.sessions.AsUser(p.provider.WithServerForUser(p.provider.RevokeGrant)))

	r.get("/admin/oauth/clients", p.provider.AsClientAdmin(p.provider.ListClients))
	r.post("/admin/oauth/clients", p.provider.AsClientAdmin(p.provider.CreateClient))
	r.get("/admin/oauth/clients/{client_id}", p.provider.OfClient(p.provider.GetClient))
	r.put("/admin/oauth/clients/{client_id}", p.provider.OfClient(p.provider.UpdateClient))
	r.remove("/admin/oauth/clients/{client_id}", p.provider.OfClient(p.provider.DeleteClient))
	r.post("/admin/oauth/clients/{client_id}/regenerate_secret", p.provider.OfClient(p.provider.RenewSecret))
}

// adminRoutes adds the administration of users.
func (p *parts) adminRoutes(r router) {
	r.post("/invite", p.sessions.AsAdmin(p.admin.Invite))
	r.post("/admin/generate_link", p.sessions.AsAdmin(p.admin.GenerateLink))
	r.get("/admin/audit", p.sessions.AsAdmin(p.admin.Audit))
	r.get("/admin/users", p.sessions.AsAdmin(p.admin.ListUsers))
	r.post("/admin/users", p.sessions.AsAdmin(p.admin.CreateUser))
	r.get("/admin/users/{user_id}", p.sessions.AsAdmin(p.admin.GetUser))
	r.put("/admin/users/{user_id}", p.sessions.AsAdmin(p.admin.UpdateUser))
	r.remove("/admin/users/{user_id}", p.sessions.AsAdmin(p.admin.DeleteUser))
	r.get("/admin/users/{user_id}/factors", p.admin.OfUser(p.admin.ListFactors))
	r.put("/admin/users/{user_id}/factors/{factor_id}", p.admin.OfUser(p.admin.UpdateFactor))
	r.remove("/admin/users/{user_id}/factors/{factor_id}", p.admin.OfUser(p.admin.DeleteFactor))
	r.get("/admin/users/{user_id}/passkeys", p.admin.OfUser(p.admin.ListPasskeys))
	r.remove("/admin/users/{user_id}/passkeys/{passkey_id}", p.admin.OfUser(p.admin.DeletePasskey))
}

// ssoRoutes adds single sign-on and the administration of its providers, which needs no SAML.
func (p *parts) ssoRoutes(r router) {
	if p.sso.Enabled() {
		for _, path := range []string{"/sso", "/sso/"} {
			r.post(path, p.limiter.Limited(ratelimit.SSO, p.captcha.Required(p.sso.SignIn)))
		}
		r.get("/sso/saml/metadata", p.sso.Metadata)
		r.post("/sso/saml/acs", p.limiter.Limited(ratelimit.SAML, p.sso.Consume))
	} else {
		r.HandleFunc("/sso", r.off("saml_provider_disabled", "SAML 2.0 is disabled"))
		r.HandleFunc("/sso/*", r.off("saml_provider_disabled", "SAML 2.0 is disabled"))
	}
	r.get("/admin/sso/providers", p.sessions.AsAdmin(p.sso.List))
	r.post("/admin/sso/providers", p.sessions.AsAdmin(p.sso.Create))
	r.get("/admin/sso/providers/{idp_id}", p.sessions.AsAdmin(p.sso.Get))
	r.put("/admin/sso/providers/{idp_id}", p.sessions.AsAdmin(p.sso.Update))
	r.remove("/admin/sso/providers/{idp_id}", p.sessions.AsAdmin(p.sso.Delete))
}

// off returns the handler of a disabled endpoint.
func (r router) off(code, text string) http.HandlerFunc {
	return r.handle(func(http.ResponseWriter, *http.Request) error {
		return apierror.Errorf(http.StatusNotFound, code, "%s", text)
	})
}
