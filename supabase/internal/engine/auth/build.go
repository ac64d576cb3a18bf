package auth

import (
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/engine/auth/account"
	"daawo/supabase/internal/engine/auth/admin"
	"daawo/supabase/internal/engine/auth/captcha"
	"daawo/supabase/internal/engine/auth/credential"
	"daawo/supabase/internal/engine/auth/endpoint"
	"daawo/supabase/internal/engine/auth/external"
	"daawo/supabase/internal/engine/auth/external/idp"
	"daawo/supabase/internal/engine/auth/hook"
	"daawo/supabase/internal/engine/auth/hookpoint"
	"daawo/supabase/internal/engine/auth/login"
	"daawo/supabase/internal/engine/auth/message"
	"daawo/supabase/internal/engine/auth/message/template"
	"daawo/supabase/internal/engine/auth/mfa"
	"daawo/supabase/internal/engine/auth/provider"
	"daawo/supabase/internal/engine/auth/ratelimit"
	"daawo/supabase/internal/engine/auth/redirect"
	"daawo/supabase/internal/engine/auth/session"
	"daawo/supabase/internal/engine/auth/sso"
	"daawo/supabase/internal/engine/auth/store"
	"daawo/supabase/internal/engine/auth/verify"
)

// parts are the packages of auth, as one Handler uses them.
type parts struct {
	db     *pool.Pool
	log    *slog.Logger
	now    func() time.Time
	client *http.Client
	keys   Keyring
	config Config

	redirects *redirect.List
	providers *idp.Registry
	templates *template.Set

	store     *store.Store
	limiter   *ratelimit.Limiter
	hooks     *hookpoint.Caller
	passwords *credential.Passwords
	captcha   *captcha.Checker
	sessions  *session.Manager
	sender    *message.Sender

	login    *login.Service
	verify   *verify.Service
	account  *account.Service
	external *external.Service
	custom   *external.CustomProviders
	sso      *sso.Service
	mfa      *mfa.Service
	provider *provider.Server
	admin    *admin.Service
}

// build makes the parts, from the lowest to the highest.
func build(o Options) (*parts, error) {
	p := &parts{db: o.DB, log: o.Log, client: o.Client, keys: o.Keys, config: o.Config.withDefaults()}
	if p.log == nil {
		p.log = slog.Default()
	}
	now := o.Now
	if now == nil {
		now = time.Now
	}
	p.now = func() time.Time { return now().UTC() }
	if p.client == nil {
		p.client = &http.Client{Timeout: 10 * time.Second}
	}
	var err error
	if p.redirects, err = redirect.New(p.config.SiteURL, p.config.RedirectURLs); err != nil {
		return nil, fmt.Errorf("auth: %w", err)
	}
	p.templates, err = template.New(p.config.Mail.Subjects, p.config.Mail.Templates, p.config.Mail.Translations)
	if err != nil {
		return nil, fmt.Errorf("auth: %w", err)
	}
	p.providers = idp.New(p.config.Providers, o.Client, p.now)
	for name, err := range p.providers.Incomplete() {
		p.log.Warn("auth.external: no user can sign in with a provider", "provider", name, "error", err)
	}
	p.buildBase()
	p.buildSessions()
	c := p.config
	p.sender = message.New(message.Options{
		DB: p.db, Limiter: p.limiter, Hooks: p.hooks, Redirects: p.redirects, Templates: p.templates, Mailer: o.Mailer,
		SMS: o.SMS, DirectMail: o.DirectMail, Log: p.log, Now: p.now,
		Config: message.Config{SiteURL: c.SiteURL, ExternalURL: c.ExternalURL, Mail: c.Mail, SMS: c.SMS},
	})
	p.buildEndpoints()
	if err := p.buildSSO(o.Client); err != nil {
		return nil, fmt.Errorf("auth: %w", err)
	}
	return p, nil
}

func (p *parts) buildBase() {
	c := p.config
	p.store = &store.Store{DB: p.db, Log: p.log, Now: p.now, Config: store.Config{
		DefaultRole: c.DefaultRole, NoAuditTable: c.NoAuditTable, LinkExpiry: c.Mail.CodeExpiry, Timebox: c.Timebox,
		Inactivity: c.Inactivity,
	}}
	p.limiter = &ratelimit.Limiter{
		DB: p.db, Log: p.log, Now: p.now, Limits: c.Limits, FreeSMS: c.PhoneAutoconfirm,
		FreeMail: c.MailerAutoconfirm && c.Limits.Mail.Gap == 0,
	}
	p.hooks = &hookpoint.Caller{Hooks: c.Hooks, DB: p.db, Hook: hook.Caller{Client: p.client, Now: p.now}}
	p.passwords = credential.New(credential.Options{
		MinLength: c.MinimumPasswordLength, Required: c.RequiredCharacters, Leaked: c.LeakedPasswords,
		Online: c.LeakedOnline, Cost: c.PasswordCost, AtOnce: c.HashesAtOnce, Client: p.client, Log: p.log,
	})
}

func (p *parts) buildSessions() {
	c := p.config
	p.sessions = session.New(session.Options{
		DB: p.db, Store: p.store, Hooks: p.hooks, Keys: p.keys, Now: p.now, Config: session.Config{
			Issuer: c.Issuer, Audience: c.Audience, AdminRoles: c.AdminRoles, TokenExpiry: c.TokenExpiry,
			SignedRefreshTokens: c.SignedRefreshTokens, RefreshTokenRotation: c.RefreshTokenRotation,
			AllowReuse: c.AllowReuse, ReuseInterval: c.ReuseInterval, Timebox: c.Timebox, Inactivity: c.Inactivity,
			AllowLowAAL: c.AllowLowAAL, SinglePerUser: c.SinglePerUser, Tags: c.SessionTags,
			UpgradePercentage: c.RefreshUpgradePercentage,
		},
	})
	p.captcha = captcha.New(c.Captcha, p.client, p.sessions.IsAdmin)
}

func (p *parts) buildEndpoints() {
	c := p.config
	p.external = &external.Service{
		DB: p.db, Store: p.store, Hooks: p.hooks, Sessions: p.sessions, Sender: p.sender, Providers: p.providers,
		Log: p.log, Now: p.now, Config: external.Config{
			SiteURL: c.SiteURL, DisableSignup: c.DisableSignup, MailerAutoconfirm: c.MailerAutoconfirm,
			AllowUnverifiedEmail: c.AllowUnverifiedEmail, ManualLinking: c.ManualLinking, FlowExpiry: c.FlowExpiry,
			CustomProviders: c.CustomProviders, IDTokenIssuers: c.IDTokenIssuers, RedirectURL: c.ExternalRedirectURL,
		},
	}
	p.custom = &external.CustomProviders{
		DB: p.db, Sessions: p.sessions, Providers: p.providers, Now: p.now, Config: c.CustomProviders,
	}
	p.login = &login.Service{
		DB: p.db, Store: p.store, Limiter: p.limiter, Captcha: p.captcha, Hooks: p.hooks, Passwords: p.passwords,
		Sessions: p.sessions, Sender: p.sender, Log: p.log, Now: p.now,
		Grants: map[string]endpoint.Handler{
			"refresh_token": p.sessions.RefreshGrant, "pkce": p.external.PKCEGrant, "id_token": p.external.IDTokenGrant,
		},
		Config: login.Config{
			DisableSignup: c.DisableSignup, DisableEmail: c.DisableEmail, DisableMagicLink: c.DisableMagicLink,
			EnablePhone: c.EnablePhone, EnableAnonymous: c.EnableAnonymous, MailerAutoconfirm: c.MailerAutoconfirm,
			PhoneAutoconfirm: c.PhoneAutoconfirm, HideAccounts: c.HideAccounts,
		},
	}
	p.verify = &verify.Service{
		Store: p.store, Limiter: p.limiter, Passwords: p.passwords, Sessions: p.sessions, Sender: p.sender, Log: p.log,
		Now: p.now, Config: verify.Config{
			MailerAutoconfirm: c.MailerAutoconfirm, SingleConfirmation: c.Mail.SingleConfirmation,
			SMSCodeExpiry: c.SMS.CodeExpiry,
		},
	}
	p.account = &account.Service{
		DB: p.db, Store: p.store, Limiter: p.limiter, Passwords: p.passwords, Sessions: p.sessions, Sender: p.sender,
		Now: p.now, Config: account.Config{
			MailerAutoconfirm: c.MailerAutoconfirm, PhoneAutoconfirm: c.PhoneAutoconfirm,
			RequireReauth: c.RequireReauth, RequireCurrent: c.RequireCurrent, SMSCodeExpiry: c.SMS.CodeExpiry,
		},
	}
	p.mfa = &mfa.Service{
		DB: p.db, Store: p.store, Limiter: p.limiter, Hooks: p.hooks, Sessions: p.sessions, Sender: p.sender,
		Redirects: p.redirects, Now: p.now, Config: mfa.Config{MFA: c.MFA, WebAuthn: c.WebAuthn},
	}
	p.provider = &provider.Server{
		DB: p.db, Store: p.store, Sessions: p.sessions, Redirects: p.redirects, Keys: p.keys, Now: p.now,
		SiteURL: c.SiteURL, Issuer: c.Issuer, Config: c.OAuthServer,
	}
	p.admin = &admin.Service{
		DB: p.db, Store: p.store, Hooks: p.hooks, Passwords: p.passwords, Sessions: p.sessions, Sender: p.sender,
		Redirects: p.redirects, Now: p.now, Config: admin.Config{
			DefaultRole: c.DefaultRole, CodeLength: c.Mail.CodeLength, MailerAutoconfirm: c.MailerAutoconfirm,
			SingleConfirmation: c.Mail.SingleConfirmation,
		},
	}
}

// buildSSO makes single sign-on. Administrators name the URLs of metadata, so without a client they
// must be of public addresses.
func (p *parts) buildSSO(client *http.Client) (err error) {
	if client == nil {
		client = &http.Client{Timeout: 8 * time.Second, Transport: idp.SafeTransport()}
	}
	accounts := func(r *http.Request, person sso.Person,
		then func(message.Tx, *store.User) (*session.TokenReply, error)) (*session.TokenReply, error) {
		return p.external.LinkAccount(r, &store.Flow{Provider: person.Provider}, idp.Person{
			Subject: person.Subject, Data: person.Data,
			Emails: []idp.Email{{Address: person.Email, Verified: true, Primary: true}},
		}, then)
	}
	p.sso, err = sso.New(sso.Options{
		DB: p.db, Store: p.store, Sessions: p.sessions, Redirects: p.redirects, Accounts: accounts, Client: client,
		Log: p.log, Now: p.now, SiteURL: p.config.SiteURL, Config: p.config.SAML,
	})
	return err
}
