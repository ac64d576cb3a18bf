package config

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLeniency checks that settings of other people's projects start with a warning that names the
// key.
func TestLeniency(t *testing.T) {
	for _, tt := range []struct {
		name, file string
		warnings   []string // parts of the warnings, one each
	}{
		{"major version", "[db]\nmajor_version = 15", []string{"db.major_version: is 15; Postgres 17 runs"}},
		{"unknown key", "[auth]\nsitee_url = \"http://localhost\"",
			[]string{`unknown key "auth.sitee_url" (did you mean "auth.site_url"?)`}},
		{"exchanged letters", "[api]\nprot = 1", []string{`unknown key "api.prot" (did you mean "api.port"?)`}},
		{"misspelt section", "[stroage]\nenabled = false", []string{`unknown key "stroage" (did you mean "storage"?)`}},
		{"misspelt section of a section", "[db.sed]\nenabled = false",
			[]string{`unknown key "db.sed" (did you mean "db.seed"?)`}},
		{"unknown key without a neighbour", "[api]\ncolour = 1", []string{`unknown key "api.colour"`}},
		{"unknown section", "[wibble]\nx = 1", []string{`unknown key "wibble"`}},
		{"key of the CLI", "[realtime]\nenabled = true\n[functions.hello]\nverify_jwt = false\n[studio]\napi_url = \"x\"", nil},
		{"unset variable", "[auth]\nsite_url = \"env(NOT_SET)\"",
			[]string{"auth.site_url: the variable NOT_SET is not set: set it in the environment or in .env"}},
		{"unset number", "[api]\nport = \"env(NOT_SET)\"", []string{"api.port: the variable NOT_SET is not set"}},
		{"unset secret of a disabled provider", "[auth.external.apple]\nenabled = false\nsecret = \"env(NOT_SET)\"",
			nil},
		{"unset switch of a hook", "[auth.hook.send_email]\nenabled = \"env(NOT_SET)\"\nuri = \"pg-functions://postgres/public/f\"",
			[]string{"auth.hook.send_email.enabled: the variable NOT_SET"}},
		{"unset switch of a service", "[auth.third_party.auth0]\nenabled = \"env(NOT_SET)\"\ntenant = \"t\"",
			[]string{"auth.third_party.auth0.enabled: the variable NOT_SET"}},
		{"mail server of unset variables",
			"[auth.email.smtp]\nhost = \"env(NOT_SET)\"\nadmin_email = \"a@example.org\"",
			[]string{"auth.email.smtp.host: the variable NOT_SET", "the mail server is not used"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := Load(Sources{File: []byte(tt.file), Name: "config.toml"})
			if err != nil {
				t.Fatal(err)
			}
			if len(c.Warnings) != len(tt.warnings) {
				t.Fatalf("got %q, want %q", c.Warnings, tt.warnings)
			}
			for i, want := range tt.warnings {
				if !strings.Contains(c.Warnings[i], want) {
					t.Errorf("got %q, want %q", c.Warnings[i], want)
				}
			}
			if c.API.Port != 54321 || c.SMTP.Host != "" {
				t.Errorf("port %d, mail server %q", c.API.Port, c.SMTP.Host)
			}
		})
	}
}

// TestOldNames checks the older names of sections and keys, and that a section without the key
// enabled keeps its default.
func TestOldNames(t *testing.T) {
	c, err := Load(Sources{File: []byte(`
[inbucket]
sender_name = "Admin"
[auth.email]
enable_signup = false
[auth.sms]
enable_signup = true
[edge_runtime.secrets]
api_key = "x"
`), Name: "config.toml"})
	if err != nil {
		t.Fatal(err)
	}
	if !c.Inbox.Enabled || c.Inbox.Port != 54324 || c.Inbox.SenderName != "Admin" {
		t.Errorf("inbox %+v", c.Inbox)
	}
	if c.Auth.Email.Enabled || !c.Auth.SMS.Enabled || c.EdgeRuntime.Secrets["API_KEY"] != "x" {
		t.Errorf("mail %v, phone %v, secrets %v", c.Auth.Email.Enabled, c.Auth.SMS.Enabled, c.EdgeRuntime.Secrets)
	}
	if len(c.Warnings) > 0 {
		t.Errorf("warnings: %q", c.Warnings)
	}
}

// TestVariablesInFile checks env(NAME) in values of all types, and that the variables of .env come
// after the process' own.
func TestVariablesInFile(t *testing.T) {
	c, err := Load(Sources{
		File: []byte(`
[api]
port = "env(PORT_API)"
schemas = ["public", "env(SCHEMA)"]
[auth]
enable_signup = "env(OPEN)"
site_url = "env(SITE)"
`), Name: "config.toml", Getenv: env("PORT_API", "7", "SITE", "http://localhost:1"),
		Expand: env("SITE", "http://localhost:2", "SCHEMA", "api", "OPEN", "false"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if c.API.Port != 7 || c.Auth.SiteURL != "http://localhost:1" ||
		!slices.Equal(c.API.Schemas, []string{"public", "api"}) || c.Auth.EnableSignup {
		t.Errorf("port %d, site %q, schemas %v, sign-up %v", c.API.Port, c.Auth.SiteURL, c.API.Schemas,
			c.Auth.EnableSignup)
	}
}

// TestRemotes checks that a section [remotes.NAME] overrides settings only if it has the id of the
// project.
func TestRemotes(t *testing.T) {
	file := []byte(`
project_id = "local"
[api]
max_rows = 10
[remotes.staging]
project_id = "abcdefghijklmnopqrst"
[remotes.staging.api]
max_rows = 20
`)
	c, err := Load(Sources{File: file, Name: "config.toml"})
	if err != nil || c.API.MaxRows != 10 || !c.DB.Seed.Enabled || len(c.Warnings) > 0 {
		t.Errorf("local: %v, %d rows, seed %v, %v", err, c.API.MaxRows, c.DB.Seed.Enabled, c.Warnings)
	}
	c, err = Load(Sources{File: file, Name: "config.toml", Getenv: env("SUPABASE_PROJECT_ID", "abcdefghijklmnopqrst")})
	if err != nil || c.API.MaxRows != 20 || c.DB.Seed.Enabled || len(c.Warnings) != 1 {
		t.Errorf("staging: %v, %d rows, seed %v, %v", err, c.API.MaxRows, c.DB.Seed.Enabled, c.Warnings)
	}
}

// TestMailServerNeedsHost checks that an enabled mail server without a host is an error, as with
// the CLI.
func TestMailServerNeedsHost(t *testing.T) {
	_, err := Load(Sources{File: []byte("[auth.email.smtp]\nenabled = true"), Name: "config.toml"})
	if err == nil || !strings.Contains(err.Error(), "auth.email.smtp.host: is required") {
		t.Errorf("got %v", err)
	}
}

// TestReferenceOfCLI checks that each key of the official CLI's reference is used or has a reason
// in the table of keys without effect, and that no key has both.
func TestReferenceOfCLI(t *testing.T) {
	known := map[string]bool{}
	if err := eachKey(func(key string) { known[key] = true }); err != nil {
		t.Fatal(err)
	}
	for key := range strings.FieldsSeq(cliKeys) {
		_, unused := reasonOf(key)
		switch {
		case !known[key] && !unused:
			t.Errorf("%s is neither used nor named in the table", key)
		case known[key] && unused:
			t.Errorf("%s is used and in the table of keys without effect", key)
		}
	}
}

// cliKeys are the keys of the official CLI's reference, with NAME for names of the operator's
// choice, after modernize.
const cliKeys = `
project_id
api.enabled api.port api.schemas api.extra_search_path api.max_rows api.auto_expose_new_tables api.external_url
api.tls.enabled api.tls.cert_path api.tls.key_path
db.port db.shadow_port db.health_timeout db.major_version db.root_key
db.pooler.enabled db.pooler.port db.pooler.pool_mode db.pooler.default_pool_size db.pooler.max_client_conn
db.migrations.enabled db.migrations.schema_paths db.seed.enabled db.seed.sql_paths db.settings.work_mem
db.network_restrictions.enabled db.network_restrictions.allowed_cidrs db.network_restrictions.allowed_cidrs_v6
db.ssl_enforcement.enabled db.vault.NAME db.orioledb_version
realtime.enabled realtime.ip_version realtime.max_header_length
studio.enabled studio.port studio.api_url studio.openai_api_key
local_smtp.enabled local_smtp.port local_smtp.smtp_port local_smtp.pop3_port local_smtp.admin_email local_smtp.sender_name
storage.enabled storage.file_size_limit storage.image_transformation.enabled storage.s3_protocol.enabled
storage.buckets.NAME.public storage.buckets.NAME.file_size_limit storage.buckets.NAME.allowed_mime_types storage.buckets.NAME.objects_path
storage.analytics.enabled storage.analytics.max_namespaces storage.vector.enabled storage.vector.max_buckets
auth.enabled auth.site_url auth.external_url auth.additional_redirect_urls auth.jwt_expiry auth.jwt_issuer
auth.enable_refresh_token_rotation auth.refresh_token_reuse_interval auth.enable_manual_linking auth.enable_signup
auth.enable_anonymous_sign_ins auth.minimum_password_length auth.password_requirements auth.signing_keys_path
auth.publishable_key auth.secret_key auth.jwt_secret auth.anon_key auth.service_role_key
auth.passkey.enabled auth.webauthn.rp_display_name auth.webauthn.rp_id auth.webauthn.rp_origins
auth.rate_limit.anonymous_users auth.rate_limit.token_refresh auth.rate_limit.sign_in_sign_ups auth.rate_limit.token_verifications
auth.rate_limit.email_sent auth.rate_limit.sms_sent auth.rate_limit.web3
auth.captcha.enabled auth.captcha.provider auth.captcha.secret
auth.hook.NAME.enabled auth.hook.NAME.uri auth.hook.NAME.secrets
auth.mfa.max_enrolled_factors auth.mfa.totp.enroll_enabled auth.mfa.totp.verify_enabled auth.mfa.web_authn.enroll_enabled
auth.mfa.web_authn.verify_enabled auth.mfa.phone.enroll_enabled auth.mfa.phone.verify_enabled auth.mfa.phone.otp_length
auth.mfa.phone.template auth.mfa.phone.max_frequency
auth.sessions.timebox auth.sessions.inactivity_timeout
auth.email.enabled auth.email.double_confirm_changes auth.email.enable_confirmations auth.email.secure_password_change
auth.email.max_frequency auth.email.otp_length auth.email.otp_expiry
auth.email.smtp.enabled auth.email.smtp.host auth.email.smtp.port auth.email.smtp.user auth.email.smtp.pass
auth.email.smtp.admin_email auth.email.smtp.sender_name
auth.email.template.NAME.subject auth.email.template.NAME.content_path auth.email.template.NAME.content
auth.email.notification.NAME.enabled auth.email.notification.NAME.subject auth.email.notification.NAME.content_path
auth.sms.enabled auth.sms.enable_confirmations auth.sms.template auth.sms.max_frequency auth.sms.test_otp.NUMBER
auth.sms.twilio.enabled auth.sms.twilio.account_sid auth.sms.twilio.message_service_sid auth.sms.twilio.auth_token
auth.sms.twilio_verify.enabled auth.sms.twilio_verify.account_sid auth.sms.messagebird.enabled auth.sms.messagebird.originator
auth.sms.messagebird.access_key auth.sms.textlocal.enabled auth.sms.textlocal.sender auth.sms.textlocal.api_key
auth.sms.vonage.enabled auth.sms.vonage.from auth.sms.vonage.api_key auth.sms.vonage.api_secret
auth.external.NAME.enabled auth.external.NAME.client_id auth.external.NAME.secret auth.external.NAME.url
auth.external.NAME.redirect_uri auth.external.NAME.skip_nonce_check auth.external.NAME.email_optional
auth.web3.solana.enabled auth.web3.ethereum.enabled
auth.oauth_server.enabled auth.oauth_server.allow_dynamic_registration auth.oauth_server.authorization_url_path
auth.third_party.firebase.enabled auth.third_party.firebase.project_id auth.third_party.auth0.tenant
auth.third_party.aws_cognito.user_pool_id auth.third_party.clerk.domain auth.third_party.workos.issuer_url
edge_runtime.enabled edge_runtime.policy edge_runtime.inspector_port edge_runtime.deno_version edge_runtime.secrets.NAME
functions.NAME.enabled functions.NAME.verify_jwt functions.NAME.import_map functions.NAME.entrypoint functions.NAME.static_files
analytics.enabled analytics.port analytics.backend analytics.gcp_project_id analytics.gcp_project_number
analytics.gcp_jwt_path analytics.vector_port
experimental.orioledb_version experimental.s3_host experimental.s3_region experimental.s3_access_key experimental.s3_secret_key
experimental.webhooks.enabled experimental.pgdelta.enabled experimental.inspect.rules
`

// TestEmptySchemas checks that an empty list of schemas, as the CLI's template of 2022 has it,
// means public.
func TestEmptySchemas(t *testing.T) {
	for _, file := range []string{"[api]\nschemas = []", "[api]\nschemas = [\"env(NOT_SET)\"]"} {
		c, err := Load(Sources{File: []byte(file), Name: "config.toml"})
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		if !slices.Equal(c.API.Schemas, []string{"public"}) {
			t.Errorf("%s: got %v", file, c.API.Schemas)
		}
	}
}

// TestFunctionDefaults checks the defaults of verify_jwt and enabled, as with the CLI.
func TestFunctionDefaults(t *testing.T) {
	c, err := Load(Sources{Name: "config.toml", File: []byte("[functions.a]\nverify_jwt = false\n" +
		"[functions.b]\nimport_map = \"./x.json\"\n[functions.c]\nenabled = false")})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]Function{
		"a": {Enabled: true}, "b": {Enabled: true, VerifyJWT: true, ImportMap: "./x.json"}, "c": {VerifyJWT: true},
	}
	if diff := cmp.Diff(want, c.Functions); diff != "" || len(c.Warnings) > 0 {
		t.Errorf("%s, warnings %q", diff, c.Warnings)
	}
}

// TestLocalCertificate checks which certificate [api.tls] needs.
func TestLocalCertificate(t *testing.T) {
	for _, tt := range []struct {
		file string
		host string
		want string // part of the error
	}{
		{"[api.tls]\nenabled = true", "127.0.0.1", ""},
		{"[api.tls]\nenabled = true\ncert_path = \"a.pem\"", "127.0.0.1",
			"api.tls.key_path: is required with api.tls.cert_path"},
		{"[api.tls]\nenabled = true\nkey_path = \"a.pem\"", "127.0.0.1",
			"api.tls.cert_path: is required with api.tls.key_path"},
		{"[api.tls]\nenabled = true", "0.0.0.0", "api.tls.cert_path: is required when listening on 0.0.0.0"},
	} {
		c, err := Load(Sources{File: []byte(tt.file), Name: "config.toml", Getenv: env("DAAWO_HOST", tt.host)})
		if err == nil {
			err = c.CheckPublic()
		}
		if got := fmt.Sprint(err); tt.want == "" && err != nil || !strings.Contains(got, tt.want) {
			t.Errorf("%s on %s: %v", tt.file, tt.host, err)
		}
	}
}

// TestTextsNeedQuotes checks that a number or a list is no text: 1.10 is a password of four
// characters for its author, and 1.1 for TOML.
func TestTextsNeedQuotes(t *testing.T) {
	for file, want := range map[string]string{
		"auth.email.smtp.pass = 1.10":            "auth.email.smtp.pass: is 1.1, a text in quotes is needed",
		"auth.site_url = true":                   "auth.site_url: is true, a text in quotes is needed",
		"db.vault.key = 7":                       "db.vault.key: is 7, a text in quotes is needed",
		"api.schemas = [[\"public\"]]":           "api.schemas: has the value [public], texts in quotes are needed",
		"auth.additional_redirect_urls = [5]":    "auth.additional_redirect_urls: has the value 5, texts in quotes are needed",
		"auth.sms.test_otp = {4152127777 = 123}": "auth.sms.test_otp.4152127777: is 123, a text in quotes is needed",
	} {
		if _, err := Load(Sources{File: []byte(file), Name: "config.toml"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", file, err, want)
		}
	}
}
