package template

// english returns the built-in texts by kind.
func english() map[string]Text {
	const (
		ignore  = "If you did not ask for this, you can ignore this message."
		contact = "If this was not you, contact us at once."
	)
	return map[string]Text{
		Invite: {Subject: "You have been invited",
			Body:   "You have been invited to {{ .SiteURL }}. Follow the link to accept.",
			Action: "Accept the invitation"},
		Confirmation: {Subject: "Confirm your e-mail address",
			Body: "Follow the link to confirm this address, or enter the code.", Action: "Confirm the address",
			Code: true, Note: ignore},
		Recovery: {Subject: "Choose a new password",
			Body: "Follow the link to choose a new password, or enter the code.", Action: "Choose a new password",
			Code: true, Note: ignore},
		MagicLink: {Subject: "Your sign-in link",
			Body: "Follow the link to sign in, or enter the code. Both work once.", Action: "Sign in", Code: true,
			Note: ignore},
		EmailChange: {Subject: "Confirm your new e-mail address",
			Body: "Follow the link to {{ if .Email }}change your address from {{ .Email }} to {{ .NewEmail }}" +
				"{{ else }}make {{ .NewEmail }} your address{{ end }}, or enter the code.",
			Action: "Change the address", Code: true, Note: ignore},
		Reauthentication: {Subject: "Your code", Body: "Enter this code to confirm that it is you.", Code: true,
			Note: ignore},

		PasswordChanged: {Subject: "Your password was changed", Body: "The password of {{ .Email }} was changed.",
			Note: contact},
		EmailChanged: {Subject: "Your e-mail address was changed",
			Body: "Your address was changed from {{ .OldEmail }} to {{ .Email }}.", Note: contact},
		PhoneChanged: {Subject: "Your phone number was changed",
			Body: "Your number was changed from {{ .OldPhone }} to {{ .Phone }}.", Note: contact},
		IdentityLinked: {Subject: "A way to sign in was added",
			Body: "{{ .Provider }} was linked to your account {{ .Email }}.", Note: contact},
		IdentityUnlinked: {Subject: "A way to sign in was removed",
			Body: "{{ .Provider }} was removed from your account{{ if .Email }} {{ .Email }}{{ end }}.", Note: contact},
		MFAFactorEnrolled: {Subject: "A second factor was added",
			Body: "A second factor ({{ .FactorType }}) was added to your account {{ .Email }}.", Note: contact},
		MFAFactorUnenrolled: {Subject: "A second factor was removed",
			Body: "A second factor ({{ .FactorType }}) was removed from your account {{ .Email }}.", Note: contact},
	}
}
