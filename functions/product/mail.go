package product

import "daawo/supabase/stack"

// mailTexts returns the texts of auth's mails by language and kind. The built-in texts are English.
// An invitation is the first that a member hears of the desk.
func mailTexts() map[string]map[string]stack.MailText {
	invite := stack.MailText{Subject: "Your invitation to Daawo",
		Body: "You are invited to the desk of {{ .SiteURL }}, where the staff works on reports. " +
			"Open the link within an hour and choose a password. The link works once.",
		Action: "Accept the invitation"}
	return map[string]map[string]stack.MailText{"en": {"invite": invite}, "so": somaliMails()}
}

// somaliMails returns the Somali texts by kind. A native speaker has to review each change.
func somaliMails() map[string]stack.MailText {
	const (
		ignore  = "Haddii aadan adigu codsan, farriintan waad iska dhaafi kartaa."
		contact = "Haddii aadan adigu ahayn, isla markiiba nala soo xiriir."
	)
	return map[string]stack.MailText{
		"invite": {Subject: "Waa lagu casuumay",
			Body: "Waxaa lagugu casuumay {{ .SiteURL }}. Raac xiriirka si aad u aqbasho. " +
				"Xiriirku hal saac ayuu shaqeeyaa, hal mar oo keliya.",
			Action: "Aqbal casuumaadda"},
		"confirmation": {Subject: "Xaqiiji cinwaanka iimaylkaaga",
			Body: "Raac xiriirka si aad u xaqiijiso cinwaankan, ama geli koodhka.", Action: "Xaqiiji cinwaanka",
			Code: true, Note: ignore},
		"recovery": {Subject: "Dooro fure sir ah oo cusub",
			Body: "Raac xiriirka si aad u doorato fure sir ah oo cusub, ama geli koodhka.", Action: "Dooro fure cusub",
			Code: true, Note: ignore},
		"magic_link": {Subject: "Xiriirka gelitaankaaga",
			Body: "Raac xiriirka si aad u gasho, ama geli koodhka. Labaduba hal mar bay shaqeeyaan.", Action: "Gal",
			Code: true, Note: ignore},
		"email_change": {Subject: "Xaqiiji cinwaanka iimaylkaaga cusub",
			Body: "Raac xiriirka si aad {{ if .Email }}cinwaankaaga uga beddesho {{ .Email }} una beddesho {{ .NewEmail }}" +
				"{{ else }}{{ .NewEmail }} uga dhigto cinwaankaaga{{ end }}, ama geli koodhka.",
			Action: "Beddel cinwaanka", Code: true, Note: ignore},
		"reauthentication": {Subject: "Koodhkaaga", Body: "Geli koodhkan si aad u xaqiijiso inaad adigu tahay.",
			Code: true, Note: ignore},

		"password_changed_notification": {Subject: "Furahaaga sirta ah waa la beddelay",
			Body: "Furaha sirta ah ee {{ .Email }} waa la beddelay.", Note: contact},
		"email_changed_notification": {Subject: "Cinwaanka iimaylkaaga waa la beddelay",
			Body: "Cinwaankaaga waxaa laga beddelay {{ .OldEmail }} waxaana loo beddelay {{ .Email }}.", Note: contact},
		"phone_changed_notification": {Subject: "Lambarka telefoonkaaga waa la beddelay",
			Body: "Lambarkaaga waxaa laga beddelay {{ .OldPhone }} waxaana loo beddelay {{ .Phone }}.", Note: contact},
		"identity_linked_notification": {Subject: "Hab gelitaan ayaa lagu daray",
			Body: "{{ .Provider }} ayaa lagu xiray akoonkaaga {{ .Email }}.", Note: contact},
		"identity_unlinked_notification": {Subject: "Hab gelitaan ayaa laga saaray",
			Body: "{{ .Provider }} ayaa laga saaray akoonkaaga{{ if .Email }} {{ .Email }}{{ end }}.", Note: contact},
		"mfa_factor_enrolled_notification": {Subject: "Xaqiijin labaad ayaa lagu daray",
			Body: "Xaqiijin labaad ({{ .FactorType }}) ayaa lagu daray akoonkaaga {{ .Email }}.", Note: contact},
		"mfa_factor_unenrolled_notification": {Subject: "Xaqiijintii labaad waa laga saaray",
			Body: "Xaqiijin labaad ({{ .FactorType }}) ayaa laga saaray akoonkaaga {{ .Email }}.", Note: contact},
	}
}
