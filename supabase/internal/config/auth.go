package config

// Auth is the [auth] section: names, meanings and defaults are the official CLI's, but for LeakedPasswordsPath, which is ours.
type Auth struct {
	Enabled                    bool     `toml:"enabled" doc:"Serve /auth/v1."`
	SiteURL                    string   `toml:"site_url" doc:"Where mails and redirects lead; SITE_URL when it is not set."`
	ExternalURL                string   `toml:"external_url" doc:"Public URL of auth; the site's address with /auth/v1 when not set."`
	AdditionalRedirectURLs     []string `toml:"additional_redirect_urls" doc:"Further redirect targets that are allowed; globs."`
	JWTExpiry                  int      `toml:"jwt_expiry" doc:"Life of an access token, seconds."`
	JWTIssuer                  string   `toml:"jwt_issuer" doc:"The iss claim; auth's public URL when not set."`
	SigningKeysPath            string   `toml:"signing_keys_path" doc:"JSON array of private JWKs to sign with, relative to config.toml."`
	EnableRefreshTokenRotation bool     `toml:"enable_refresh_token_rotation" doc:"A refresh token is used once."`
	RefreshTokenReuseInterval  int      `toml:"refresh_token_reuse_interval" doc:"Seconds in which a used refresh token is still taken."`
	EnableSignup               bool     `toml:"enable_signup" doc:"New users may sign up. Off on a public address unless set here."`
	EnableAnonymousSignIns     bool     `toml:"enable_anonymous_sign_ins" doc:"Anonymous sign-in."`
	EnableManualLinking        bool     `toml:"enable_manual_linking" doc:"A user may link further identities."`
	MinimumPasswordLength      int      `toml:"minimum_password_length" doc:"Shortest password, characters."`
	PasswordRequirements       string   `toml:"password_requirements" doc:"letters_digits, lower_upper_letters_digits or lower_upper_letters_digits_symbols."`
	LeakedPasswordsPath        string   `toml:"leaked_passwords_path" doc:"File of sorted SHA-1 hashes; a password on it is refused. No password leaves the machine. Ours, not the CLI's."`

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
}

// AuthRateLimit counts per hour for messages and per five minutes and address for the rest.
type AuthRateLimit struct {
	EmailSent          int `toml:"email_sent" doc:"Mails an hour, when SMTP is set."`
	SMSSent            int `toml:"sms_sent" doc:"Text messages an hour."`
	AnonymousUsers     int `toml:"anonymous_users" doc:"Anonymous sign-ins an hour and address."`
	TokenRefresh       int `toml:"token_refresh" doc:"Refreshes and other grants of tokens in five minutes and address."`
	SignInSignUps      int `toml:"sign_in_sign_ups" doc:"Sign-ups in five minutes and address; as many requests each for a code, a link, a new password, sending again, changing the account."`
	TokenVerifications int `toml:"token_verifications" doc:"Verifications in five minutes and address."`
	Web3               int `toml:"web3" doc:"Web3 sign-ins in five minutes and address; not served by the engine here."`
}

// AuthCaptcha asks sign-up and sign-in for a captcha token.
type AuthCaptcha struct {
	Enabled  bool   `toml:"enabled" doc:"Ask for a captcha."`
	Provider string `toml:"provider" doc:"hcaptcha or turnstile."`
	Secret   string `toml:"secret" doc:"The provider's secret."`
}

// AuthEmail is sign-in by e-mail.
type AuthEmail struct {
	Enabled                bool                        `toml:"enabled" doc:"Sign-in by e-mail."`
	DoubleConfirmChanges   bool                        `toml:"double_confirm_changes" doc:"Both addresses confirm a change."`
	EnableConfirmations    bool                        `toml:"enable_confirmations" doc:"An address is confirmed before sign-in."`
	SecurePasswordChange   bool                        `toml:"secure_password_change" doc:"A password change needs a recent sign-in."`
	RequireCurrentPassword bool                        `toml:"require_current_password" doc:"A password change needs the current one."`
	MaxFrequency           Duration                    `toml:"max_frequency" doc:"Shortest time between two mails to one user."`
	OTPLength              int                         `toml:"otp_length" doc:"Digits of a code."`
	OTPExpiry              int                         `toml:"otp_expiry" doc:"Life of a code, seconds."`
	SMTP                   AuthSMTP                    `toml:"smtp"`
	Template               map[string]AuthTemplate     `toml:"template"`
	Notification           map[string]AuthNotification `toml:"notification"`
}

// AuthSMTP is the mail server; SMTP_* variables win over it.
type AuthSMTP struct {
	Enabled    bool   `toml:"enabled" doc:"Use this server."`
	Host       string `toml:"host" doc:"Host name."`
	Port       uint16 `toml:"port" doc:"Port."`
	User       string `toml:"user" doc:"User."`
	Pass       string `toml:"pass" doc:"Password; write env(NAME) instead of the value."`
	AdminEmail string `toml:"admin_email" doc:"Sender address."`
	SenderName string `toml:"sender_name" doc:"Sender name."`
}

// AuthTemplate replaces the text of one mail (invite, confirmation, recovery, magic_link, email_change, reauthentication).
type AuthTemplate struct {
	Subject     string `toml:"subject" doc:"Subject."`
	ContentPath string `toml:"content_path" doc:"HTML file, relative to the folder above config.toml."`
}

// AuthNotification is a mail about something that happened to the account.
type AuthNotification struct {
	Enabled     bool   `toml:"enabled" doc:"Send it."`
	Subject     string `toml:"subject" doc:"Subject."`
	ContentPath string `toml:"content_path" doc:"HTML file, relative to the folder above config.toml."`
}

// AuthSMS is sign-in by phone.
type AuthSMS struct {
	Enabled             bool              `toml:"enabled" doc:"Sign-in by phone."`
	EnableConfirmations bool              `toml:"enable_confirmations" doc:"A number is confirmed before sign-in."`
	Template            string            `toml:"template" doc:"Text of the message."`
	MaxFrequency        Duration          `toml:"max_frequency" doc:"Shortest time between two messages to one user."`
	TestOTP             map[string]string `toml:"test_otp" each:"The code that always works for this number, for tests."`
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

// SMSTwilioVerify is Twilio's own verification service, which the engine here does not use.
type SMSTwilioVerify struct {
	Enabled           bool   `toml:"enabled" doc:"Not served by the engine here; named in a warning at the start."`
	AccountSID        string `toml:"account_sid" doc:"Account."`
	MessageServiceSID string `toml:"message_service_sid" doc:"Message service."`
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

// AuthSessions ends sessions.
type AuthSessions struct {
	Timebox           Duration `toml:"timebox" doc:"A session ends after this time; 0 never."`
	InactivityTimeout Duration `toml:"inactivity_timeout" doc:"A session ends when unused for this time; 0 never."`
}

// AuthMFA is multi-factor sign-in.
type AuthMFA struct {
	MaxEnrolledFactors int       `toml:"max_enrolled_factors" doc:"Most factors of a user."`
	TOTP               MFAFactor `toml:"totp"`
	Phone              MFAPhone  `toml:"phone"`
	WebAuthn           MFAFactor `toml:"web_authn"`
}

// MFAFactor turns a kind of factor on.
type MFAFactor struct {
	EnrollEnabled bool `toml:"enroll_enabled" doc:"Users may enrol one."`
	VerifyEnabled bool `toml:"verify_enabled" doc:"Users may sign in with one."`
}

// MFAPhone is the phone factor.
type MFAPhone struct {
	EnrollEnabled bool     `toml:"enroll_enabled" doc:"Users may enrol one."`
	VerifyEnabled bool     `toml:"verify_enabled" doc:"Users may sign in with one."`
	OTPLength     int      `toml:"otp_length" doc:"Digits of a code."`
	Template      string   `toml:"template" doc:"Text of the message."`
	MaxFrequency  Duration `toml:"max_frequency" doc:"Shortest time between two messages."`
}

// AuthHook calls a function of the database or a URL.
type AuthHook struct {
	Enabled bool   `toml:"enabled" doc:"Call it."`
	URI     string `toml:"uri" doc:"pg-functions://postgres/SCHEMA/FUNCTION or an https URL."`
	Secrets string `toml:"secrets" doc:"Standard-webhooks secrets of an https hook."`
}

// AuthProvider is an OAuth or OIDC provider.
type AuthProvider struct {
	Enabled        bool   `toml:"enabled" doc:"Sign-in with it."`
	ClientID       string `toml:"client_id" doc:"Client id."`
	Secret         string `toml:"secret" doc:"Client secret; write env(NAME) instead of the value."`
	RedirectURI    string `toml:"redirect_uri" doc:"Callback; auth's public URL with /callback when not set."`
	URL            string `toml:"url" doc:"The provider's own address, where it has one."`
	SkipNonceCheck bool   `toml:"skip_nonce_check" doc:"Do not compare the nonce."`
	EmailOptional  bool   `toml:"email_optional" doc:"Sign in although no address is known."`
}

// AuthWeb3 is sign-in with a wallet.
type AuthWeb3 struct {
	Solana   Unserved `toml:"solana"`
	Ethereum Unserved `toml:"ethereum"`
}

// Unserved is a part that the engine here has not: enabling it is answered by a warning at the start.
type Unserved struct {
	Enabled bool `toml:"enabled" doc:"Not served by the engine here; named in a warning at the start."`
}

// AuthWebAuthn names the relying party.
type AuthWebAuthn struct {
	RPDisplayName string   `toml:"rp_display_name" doc:"Name that browsers show."`
	RPID          string   `toml:"rp_id" doc:"Domain of the relying party."`
	RPOrigins     []string `toml:"rp_origins" doc:"Origins that may use it."`
}

// AuthOAuthServer lets other applications sign in with this project's accounts.
type AuthOAuthServer struct {
	Enabled                  bool   `toml:"enabled" doc:"Serve the OAuth 2.1 endpoints."`
	AuthorizationURLPath     string `toml:"authorization_url_path" doc:"Path of the consent page on the site."`
	AllowDynamicRegistration bool   `toml:"allow_dynamic_registration" doc:"Clients may register themselves."`
}
