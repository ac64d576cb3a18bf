package letter

// sentences are the built-in letters of a language.
func sentences(language string) map[string]sentence {
	if language == "so" {
		return somali()
	}
	return english()
}

func english() map[string]sentence {
	const (
		ignore  = "If you did not ask for this, you can ignore this message."
		contact = "If this was not you, contact us at once."
	)
	return map[string]sentence{
		Invite: {subject: "You have been invited", body: "You have been invited to {{ .SiteURL }}. Follow the link to accept.", action: "Accept the invitation"},
		Confirmation: {subject: "Confirm your e-mail address", body: "Follow the link to confirm this address, or enter the code.",
			action: "Confirm the address", code: true, note: ignore},
		Recovery: {subject: "Choose a new password", body: "Follow the link to choose a new password, or enter the code.",
			action: "Choose a new password", code: true, note: ignore},
		MagicLink: {subject: "Your sign-in link", body: "Follow the link to sign in, or enter the code. Both work once.",
			action: "Sign in", code: true, note: ignore},
		EmailChange: {subject: "Confirm your new e-mail address",
			body: "Follow the link to {{ if .Email }}change your address from {{ .Email }} to {{ .NewEmail }}" +
				"{{ else }}make {{ .NewEmail }} your address{{ end }}, or enter the code.",
			action: "Change the address", code: true, note: ignore},
		Reauthentication: {subject: "Your code", body: "Enter this code to confirm that it is you.", code: true, note: ignore},

		PasswordChanged:     {subject: "Your password was changed", body: "The password of {{ .Email }} was changed.", note: contact},
		EmailChanged:        {subject: "Your e-mail address was changed", body: "Your address was changed from {{ .OldEmail }} to {{ .Email }}.", note: contact},
		PhoneChanged:        {subject: "Your phone number was changed", body: "Your number was changed from {{ .OldPhone }} to {{ .Phone }}.", note: contact},
		IdentityLinked:      {subject: "A way to sign in was added", body: "{{ .Provider }} was linked to your account {{ .Email }}.", note: contact},
		IdentityUnlinked:    {subject: "A way to sign in was removed", body: "{{ .Provider }} was removed from your account{{ if .Email }} {{ .Email }}{{ end }}.", note: contact},
		MFAFactorEnrolled:   {subject: "A second factor was added", body: "A second factor ({{ .FactorType }}) was added to your account {{ .Email }}.", note: contact},
		MFAFactorUnenrolled: {subject: "A second factor was removed", body: "A second factor ({{ .FactorType }}) was removed from your account {{ .Email }}.", note: contact},
	}
}

func somali() map[string]sentence {
	const (
		ignore  = "Haddii aadan adigu codsan, farriintan waad iska dhaafi kartaa."
		contact = "Haddii aadan adigu ahayn, isla markiiba nala soo xiriir."
	)
	return map[string]sentence{
		Invite: {subject: "Waa lagu casuumay", body: "Waxaa lagugu casuumay {{ .SiteURL }}. Raac xiriirka si aad u aqbasho.", action: "Aqbal casuumaadda"},
		Confirmation: {subject: "Xaqiiji cinwaanka iimaylkaaga", body: "Raac xiriirka si aad u xaqiijiso cinwaankan, ama geli koodhka.",
			action: "Xaqiiji cinwaanka", code: true, note: ignore},
		Recovery: {subject: "Dooro fure sir ah oo cusub", body: "Raac xiriirka si aad u doorato fure sir ah oo cusub, ama geli koodhka.",
			action: "Dooro fure cusub", code: true, note: ignore},
		MagicLink: {subject: "Xiriirka gelitaankaaga", body: "Raac xiriirka si aad u gasho, ama geli koodhka. Labaduba hal mar bay shaqeeyaan.",
			action: "Gal", code: true, note: ignore},
		EmailChange: {subject: "Xaqiiji cinwaanka iimaylkaaga cusub",
			body: "Raac xiriirka si aad {{ if .Email }}cinwaankaaga uga beddesho {{ .Email }} una beddesho {{ .NewEmail }}" +
				"{{ else }}{{ .NewEmail }} uga dhigto cinwaankaaga{{ end }}, ama geli koodhka.",
			action: "Beddel cinwaanka", code: true, note: ignore},
		Reauthentication: {subject: "Koodhkaaga", body: "Geli koodhkan si aad u xaqiijiso inaad adigu tahay.", code: true, note: ignore},

		PasswordChanged:     {subject: "Furahaaga sirta ah waa la beddelay", body: "Furaha sirta ah ee {{ .Email }} waa la beddelay.", note: contact},
		EmailChanged:        {subject: "Cinwaanka iimaylkaaga waa la beddelay", body: "Cinwaankaaga waxaa laga beddelay {{ .OldEmail }} waxaana loo beddelay {{ .Email }}.", note: contact},
		PhoneChanged:        {subject: "Lambarka telefoonkaaga waa la beddelay", body: "Lambarkaaga waxaa laga beddelay {{ .OldPhone }} waxaana loo beddelay {{ .Phone }}.", note: contact},
		IdentityLinked:      {subject: "Hab gelitaan ayaa lagu daray", body: "{{ .Provider }} ayaa lagu xiray akoonkaaga {{ .Email }}.", note: contact},
		IdentityUnlinked:    {subject: "Hab gelitaan ayaa laga saaray", body: "{{ .Provider }} ayaa laga saaray akoonkaaga{{ if .Email }} {{ .Email }}{{ end }}.", note: contact},
		MFAFactorEnrolled:   {subject: "Xaqiijin labaad ayaa lagu daray", body: "Xaqiijin labaad ({{ .FactorType }}) ayaa lagu daray akoonkaaga {{ .Email }}.", note: contact},
		MFAFactorUnenrolled: {subject: "Xaqiijintii labaad waa laga saaray", body: "Xaqiijin labaad ({{ .FactorType }}) ayaa laga saaray akoonkaaga {{ .Email }}.", note: contact},
	}
}
