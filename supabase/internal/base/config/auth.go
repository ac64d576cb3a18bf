package config

// Auth is the [auth] section. Names, meanings and defaults follow the official CLI. Only
// LeakedPasswordsPath is new.
type Auth struct {
	Enabled                    bool     `toml:"enabled" doc:"Serve /auth/v1."`
	SiteURL                    string   `toml:"site_url" doc:"Base URL of links in mails and of redirects, also of an application (my-app://). Default: SITE_URL."`
	ExternalURL                string   `toml:"external_url" doc:"Public URL of auth. Default: the site's URL with /auth/v1."`
	AdditionalRedirectURLs     []string `toml:"additional_redirect_urls" doc:"More allowed redirect URLs; globs."`
	JWTExpiry                  int      `toml:"jwt_expiry" doc:"Lifetime of an access token, in seconds."`
	JWTIssuer                  string   `toml:"jwt_issuer" doc:"The iss claim. Default: the public URL of auth."`
	SigningKeysPath            string   `toml:"signing_keys_path" doc:"File with a JSON array of private JWKs that sign tokens, relative to config.toml."`
	EnableRefreshTokenRotation bool     `toml:"enable_refresh_token_rotation" doc:"Each refresh token works once."`
	RefreshTokenReuseInterval  int      `toml:"refresh_token_reuse_interval" doc:"Seconds for which a used refresh token is still accepted."`
	EnableSignup               bool     `toml:"enable_signup" doc:"New users may sign up. Disabled on a public address unless set here."`
	EnableAnonymousSignIns     bool     `toml:"enable_anonymous_sign_ins" doc:"Anonymous sign-in."`
	EnableManualLinking        bool     `toml:"enable_manual_linking" doc:"Users may link more identities."`
	MinimumPasswordLength      int      `toml:"minimum_password_length" doc:"Minimum length of a password, in characters."`
	PasswordRequirements       string   `toml:"password_requirements" doc:"letters_digits, lower_upper_letters_digits or lower_upper_letters_digits_symbols."`
	LeakedPasswordsPath        string   `toml:"leaked_passwords_path" doc:"File of sorted SHA-1 hashes; passwords in it are rejected. No password leaves the machine. The CLI does not have this key."`

	RateLimit AuthRateLimit           `toml:"rate_limit"`
	Captcha   AuthCaptcha             `toml:"captcha"`
	Email     AuthEmail               `toml:"email"`
	SMS       AuthSMS                 `toml:"sms"`
	Sessions  AuthSessions            `toml:"sessions"`
	MFA       AuthMFA                 `toml:"mfa"`
	Hook      map[string]AuthHook     `toml:"hook"`
	External  map[string]AuthProvider `toml:"external"`
	Web3      AuthWeb3                `toml:"web3"`
	Passkey   Switch                  `toml:"passkey"`
	WebAuthn  AuthWebAuthn            `toml:"webauthn"`
	OAuth     AuthOAuthServer         `toml:"oauth_server"`
	SAML      AuthSAML                `toml:"saml"`

	ThirdParty AuthThirdParty `toml:"third_party"`
}

// AuthRateLimit limits messages and anonymous sign-ins per hour, and other requests per five
// minutes and client address.
type AuthRateLimit struct {
	EmailSent          int `toml:"email_sent" doc:"Mails per hour, if SMTP is configured."`
	SMSSent            int `toml:"sms_sent" doc:"Text messages per hour."`
	AnonymousUsers     int `toml:"anonymous_users" doc:"Anonymous sign-ins per hour and client address."`
	TokenRefresh       int `toml:"token_refresh" doc:"Refreshes and other token grants per five minutes and client address; as many redirects to providers."`
	SignInSignUps      int `toml:"sign_in_sign_ups" doc:"Sign-ups per five minutes and client address. Requests for a code, for a link, to recover, to resend and to change the user have separate limits of the same size."`
	TokenVerifications int `toml:"token_verifications" doc:"Verifications per five minutes and client address."`
	Web3               int `toml:"web3" doc:"Web3 sign-ins per five minutes and client address; not supported by this engine."`
}

// AuthCaptcha makes sign-up and sign-in require a captcha token.
type AuthCaptcha struct {
	Enabled  bool   `toml:"enabled" doc:"Require a captcha."`
	Provider string `toml:"provider" doc:"hcaptcha or turnstile."`
	Secret   string `toml:"secret" doc:"Secret of the captcha provider."`
}

// AuthEmail configures sign-in by e-mail.
type AuthEmail struct {
	Enabled                bool                        `toml:"enabled" doc:"Sign-in by e-mail."`
	DoubleConfirmChanges   bool                        `toml:"double_confirm_changes" doc:"Both addresses must confirm a change."`
	EnableConfirmations    bool                        `toml:"enable_confirmations" doc:"Addresses must be confirmed before sign-in."`
	SecurePasswordChange   bool                        `toml:"secure_password_change" doc:"A password change needs a recent sign-in."`
	RequireCurrentPassword bool                        `toml:"require_current_password" doc:"A password change needs the current one."`
	MaxFrequency           Duration                    `toml:"max_frequency" doc:"Minimum time between two mails to one user."`
	OTPLength              int                         `toml:"otp_length" doc:"Number of digits of a code."`
	OTPExpiry              int                         `toml:"otp_expiry" doc:"Lifetime of a code, in seconds."`
	SMTP                   AuthSMTP                    `toml:"smtp"`
	Template               map[string]AuthTemplate     `toml:"template"`
	Notification           map[string]AuthNotification `toml:"notification"`
}

// AuthSMTP configures the mail server. The SMTP_* variables override it.
type AuthSMTP struct {
	Enabled    bool   `toml:"enabled" doc:"Use this server."`
	Host       string `toml:"host" doc:"Host name."`
	Port       uint16 `toml:"port" doc:"Port."`
	User       string `toml:"user" doc:"User."`
	Pass       string `toml:"pass" doc:"Password; write env(NAME) instead of the value."`
	AdminEmail string `toml:"admin_email" doc:"Sender address."`
	SenderName string `toml:"sender_name" doc:"Sender name."`
}

// AuthTemplate replaces the text of one mail (invite, confirmation, recovery, magic_link,
// email_change, reauthentication).
type AuthTemplate struct {
	Subject     string `toml:"subject" doc:"Subject."`
	ContentPath string `toml:"content_path" doc:"HTML file, relative to the folder above config.toml."`
}

// AuthNotification configures the mail about one kind of change to an account.
type AuthNotification struct {
	Enabled     bool   `toml:"enabled" doc:"Send it."`
	Subject     string `toml:"subject" doc:"Subject."`
	ContentPath string `toml:"content_path" doc:"HTML file, relative to the folder above config.toml."`
}

// AuthSMS configures sign-in by phone.
type AuthSMS struct {
	Enabled             bool              `toml:"enabled" doc:"Sign-in by phone."`
	EnableConfirmations bool              `toml:"enable_confirmations" doc:"Numbers must be confirmed before sign-in."`
	Template            string            `toml:"template" doc:"Text of the message."`
	MaxFrequency        Duration          `toml:"max_frequency" doc:"Minimum time between two messages to one user."`
	TestOTP             map[string]string `toml:"test_otp" each:"Code that always works for this number, for tests."`
	Twilio              SMSTwilio         `toml:"twilio"`
	TwilioVerify        SMSTwilioVerify   `toml:"twilio_verify"`
	MessageBird         SMSMessageBird    `toml:"messagebird"`
	Textlocal           SMSTextlocal      `toml:"textlocal"`
	Vonage              SMSVonage         `toml:"vonage"`
}

// SMSTwilio is a Twilio account.
type SMSTwilio struct {
	Enabled           bool   `toml:"enabled" doc:"Use it."`
	AccountSID        string `toml:"account_sid" doc:"Account."`
	MessageServiceSID string `toml:"message_service_sid" doc:"Message service."`
	AuthToken         string `toml:"auth_token" doc:"Token."`
}

// SMSTwilioVerify is an account of Twilio Verify, which makes the codes and checks them.
type SMSTwilioVerify struct {
	Enabled           bool   `toml:"enabled" doc:"Use it."`
	AccountSID        string `toml:"account_sid" doc:"Account."`
	MessageServiceSID string `toml:"message_service_sid" doc:"Service of Twilio Verify."`
	AuthToken         string `toml:"auth_token" doc:"Token."`
}

// SMSMessageBird is a MessageBird account.
type SMSMessageBird struct {
	Enabled    bool   `toml:"enabled" doc:"Use it."`
	Originator string `toml:"originator" doc:"Sender."`
	AccessKey  string `toml:"access_key" doc:"Key."`
}

// SMSTextlocal is a Textlocal account.
type SMSTextlocal struct {
	Enabled bool   `toml:"enabled" doc:"Use it."`
	Sender  string `toml:"sender" doc:"Sender."`
	APIKey  string `toml:"api_key" doc:"Key."`
}

// SMSVonage is a Vonage account.
type SMSVonage struct {
	Enabled   bool   `toml:"enabled" doc:"Use it."`
	From      string `toml:"from" doc:"Sender."`
	APIKey    string `toml:"api_key" doc:"Key."`
	APISecret string `toml:"api_secret" doc:"Secret."`
}

// AuthSessions limits how long sessions last.
type AuthSessions struct {
	Timebox           Duration `toml:"timebox" doc:"Sessions end after this time; 0 means never."`
	InactivityTimeout Duration `toml:"inactivity_timeout" doc:"Sessions end after this time without use; 0 means never."`
}

// AuthMFA configures multi-factor authentication.
type AuthMFA struct {
	MaxEnrolledFactors int       `toml:"max_enrolled_factors" doc:"Maximum number of factors per user."`
	TOTP               MFAFactor `toml:"totp"`
	Phone              MFAPhone  `toml:"phone"`
	WebAuthn           MFAFactor `toml:"web_authn"`
}

// MFAFactor enables one type of factor.
type MFAFactor struct {
	EnrollEnabled bool `toml:"enroll_enabled" doc:"Users may enrol this factor."`
	VerifyEnabled bool `toml:"verify_enabled" doc:"Users may verify this factor."`
}

// MFAPhone configures the phone factor.
type MFAPhone struct {
	EnrollEnabled bool     `toml:"enroll_enabled" doc:"Users may enrol this factor."`
	VerifyEnabled bool     `toml:"verify_enabled" doc:"Users may verify this factor."`
	OTPLength     int      `toml:"otp_length" doc:"Number of digits of a code."`
	Template      string   `toml:"template" doc:"Text of the message."`
	MaxFrequency  Duration `toml:"max_frequency" doc:"Minimum time between two messages."`
}

// AuthHook configures a hook: a database function or a URL.
type AuthHook struct {
	Enabled bool   `toml:"enabled" doc:"Call this hook."`
	URI     string `toml:"uri" doc:"pg-functions://postgres/SCHEMA/FUNCTION or an https URL."`
	Secrets string `toml:"secrets" doc:"Standard Webhooks secrets of an https hook."`
}

// AuthProvider is an OAuth or OIDC provider.
type AuthProvider struct {
	Enabled        bool   `toml:"enabled" doc:"Enable sign-in with this provider."`
	ClientID       string `toml:"client_id" doc:"Client ID."`
	Secret         string `toml:"secret" doc:"Client secret; write env(NAME) instead of the value."`
	RedirectURI    string `toml:"redirect_uri" doc:"Callback URL. Default: the public URL of auth with /callback."`
	URL            string `toml:"url" doc:"URL of the provider, for providers that need one."`
	SkipNonceCheck bool   `toml:"skip_nonce_check" doc:"Do not check the nonce."`
	EmailOptional  bool   `toml:"email_optional" doc:"Allow sign-in without an e-mail address."`
}

// AuthWeb3 configures sign-in with a wallet.
type AuthWeb3 struct {
	Solana   Unsupported `toml:"solana"`
	Ethereum Unsupported `toml:"ethereum"`
}

// Unsupported is a feature that this engine does not have. If it is enabled, a warning is logged at
// the start.
type Unsupported struct {
	Enabled bool `toml:"enabled" doc:"Not supported by this engine; enabling it logs a warning at the start."`
}

// AuthWebAuthn configures the relying party of WebAuthn.
type AuthWebAuthn struct {
	RPDisplayName string   `toml:"rp_display_name" doc:"Name of the relying party, shown by browsers."`
	RPID          string   `toml:"rp_id" doc:"Domain of the relying party."`
	RPOrigins     []string `toml:"rp_origins" doc:"Origins that may use WebAuthn."`
}

// AuthOAuthServer configures the OAuth 2.1 server, with which other applications sign users in.
type AuthOAuthServer struct {
	Enabled                  bool   `toml:"enabled" doc:"Serve the OAuth 2.1 endpoints."`
	AuthorizationURLPath     string `toml:"authorization_url_path" doc:"Path of the consent page on the site."`
	AllowDynamicRegistration bool   `toml:"allow_dynamic_registration" doc:"Clients may register themselves."`
}

// AuthSAML configures single sign-on with SAML 2.0. The official CLI does not have it; the names
// are those of GoTrue's variables.
type AuthSAML struct {
	Enabled                  bool     `toml:"enabled" doc:"Single sign-on with SAML 2.0. Not in the CLI."`
	PrivateKey               string   `toml:"private_key" doc:"Base64 of an RSA key's DER: env(SAML_PRIVATE_KEY)."`
	PrivateKeyNext           string   `toml:"private_key_next" doc:"The next key during a rotation."`
	AllowEncryptedAssertions bool     `toml:"allow_encrypted_assertions" doc:"Identity providers may encrypt assertions."`
	RelayStateValidityPeriod Duration `toml:"relay_state_validity_period" doc:"Time for the identity provider."`
}
