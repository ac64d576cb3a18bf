package gotrue

import "daawo/supabase/internal/base/compare"

const anyRequest = "[A-Z]+ /"

// knownDifferences are the differences from the real GoTrue that stay. docs/evidence/auth.md has
// them, too.
var knownDifferences = compare.List{
	{Request: anyRequest, Place: `body\.(msg|message)`, Text: "Could not parse request body as JSON",
		Reason: "the words of its JSON library name its own types"},
	{Request: "GET /health", Place: `body\.version`, Reason: "the version of the build, which may be empty"},
	{Request: "GET /settings", Place: `body\.saml_private_key_next_configured`,
		Reason: "true in GoTrue without any SAML key"},
	{Request: "GET /admin/users.*per_page=0", Place: "status", Text: "500", Reason: "GoTrue divides by zero"},
	{Request: "(POST|PUT) /admin/users", Place: "status", Text: "500",
		Reason: "GoTrue checks neither whose the address of a change is nor how long a password is"},
	{Request: "PUT /admin/users/", Place: `body\.identities\.\*\.(email|identity_data\..*)`,
		Reason: "GoTrue replies with the identity as it was before the change"},
	{Request: "POST /(recover|otp|magiclink|signup|resend)|PUT /user", Place: "status", Text: "500",
		Reason: "GoTrue checks the method of a code challenge too late"},
	{Request: "POST /signup", Place: "status", Text: "200",
		Reason: "without confirmations, GoTrue lets a stranger sign up as an unconfirmed user that an administrator made"},
	{Request: "POST /factors$", Place: "status", Text: "500",
		Reason: "GoTrue makes no QR code for a user without an address"},
	{Request: "(POST|DELETE) /factors", Place: "status", Text: "403 no_authorization",
		Reason: "GoTrue reads from the token, not from the account, that a user is anonymous"},
	{Request: "POST /admin/custom-providers", Place: `body\.(msg|message)`,
		Reason: "the form of the identifier is checked first"},
	{Request: "POST /otp", Place: "status", Text: "422 otp_disabled",
		Reason: "GoTrue replies that sign-ups are not allowed when the address is malformed or phones are disabled"},
	{Request: "POST /(otp|magiclink|admin/generate_link)", Place: "status", Text: "422 weak_password",
		Reason: "GoTrue makes a password for a new account that its own rules refuse"},
	{Request: "POST /(otp|magiclink)", Place: "status", Text: "422 signup_disabled",
		Reason: "without confirmations, an unconfirmed user signs in by a link or code and does not sign up again"},
	{Request: `POST /token\?grant_type=password`, Place: `header X-Sb-Error-Code|body\..*`,
		Text: "(phone|email)_not_confirmed|[Nn]ot confirmed", Ends: true,
		Reason: "a code or link removed the password that another person may have chosen"},
	{Request: "(GET|POST) /verify", Place: `header Location|body|body\.(user|access_token).*`, Ends: true,
		Reason: "the owner of an unconfirmed address takes the account over: other identities are removed"},
}
