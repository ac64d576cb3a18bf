package submitreport

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"daawo/supabase/edge"

	"golang.org/x/text/language"
)

// texts are the messages in one language. The specification fixes some of the English ones (spec
// §5, §8).
type texts struct {
	Language string

	productRequired, descriptionRequired, phoneRequired, locationRequired string
	fillRequired, badDate, tooLongFormat, notAnImage, photoTooLarge       string
	phoneDoubt                                                            string

	failed, failedTitle, invalidTitle, tooMany, keyReused, badRequest string
	pressAgain, chooseAgain, title                                    string
	yourReference, noPhoto, shownOnce                                 string

	// For the template.
	RequiredNote, Optional, MoreFields, CountryLabel, SelectRegion, PhotoKept, Send string
	ErrorSummary, OtherLanguage, Exit, ContactUs, Privacy, Back, Disclaimer         string

	labels map[string]string
}

func (t *texts) tooLong(most int) string { return fmt.Sprintf(t.tooLongFormat, most) }

var english = texts{
	Language:            "en",
	productRequired:     "Product name is required",
	descriptionRequired: "Problem description is required",
	phoneRequired:       "Phone number is required",
	locationRequired:    "Location is required",
	fillRequired:        "Please fill in all required fields.",
	badDate:             "Write the date as year-month-day, such as 2026-08-31",
	phoneDoubt:          "Is this number right? If it is, press “Submit report” again.",
	tooLongFormat:       "At most %d characters",
	notAnImage:          "Please select an image file.",
	photoTooLarge:       "Please select a file smaller than 5MB.",
	failed:              "Please try again or contact us directly.",
	failedTitle:         "Submission Failed",
	invalidTitle:        "Validation Error",
	tooMany:             "Too many reports came from your network in the last hour. Please try again later or contact us directly.",
	keyReused:           "This report was changed after it was sent. Please send it as a new report.",
	badRequest:          "The report could not be read.",
	pressAgain:          "Please press the button once more to send your report.",
	PhotoKept:           "Your photo is kept and will be sent with the report.",
	chooseAgain:         "Please choose your photo again.",
	noPhoto:             "Report will be submitted without photo.",
	title:               "Report a product",
	RequiredNote:        "Fields marked * are required.",
	Send:                "Submit report",
	yourReference:       "Your reference",
	ContactUs:           "Contact us",
	Back:                "Back to the empty form",
	shownOnce:           "The reference is shown only once, so that the next user of this device does not see it.",
	Optional:            "optional",
	MoreFields:          "Add a photo or more details",
	CountryLabel:        "Country code",
	SelectRegion:        "Select a region",
	ErrorSummary:        "Please correct these fields",
	OtherLanguage:       "Soomaali",
	Exit:                "Leave this page quickly",
	Privacy:             "Privacy",
	Disclaimer:          "This site is for education only and does not replace professional medical advice. We are not a hospital. In an emergency, get medical care immediately.",
	labels: map[string]string{
		"name": "Your name", "phone": "Phone number", "product_name": "Product name",
		"where_bought": "Where did you buy it?", "batch_number": "Batch number", "expiry_date": "Expiry date",
		"location": "Location", "issue_description": "Problem description", "photo": "Photo",
	},
}

var somali = texts{
	Language:            "so",
	productRequired:     "Magaca badeecadda waa loo baahan yahay",
	descriptionRequired: "Sharaxaadda dhibaatada waa loo baahan yahay",
	phoneRequired:       "Lambarka telefoonka waa loo baahan yahay",
	locationRequired:    "Goobta waa loo baahan yahay",
	fillRequired:        "Fadlan buuxi dhammaan goobaha loo baahan yahay.",
	badDate:             "Taariikhda u qor sannad-bil-maalin, sida 2026-08-31",
	phoneDoubt:          "Lambarkani ma sax baa? Haddii uu sax yahay, mar kale riix “Gudbi warbixinta”.",
	tooLongFormat:       "Ugu badnaan %d xaraf",
	notAnImage:          "Fadlan dooro fayl sawir ah.",
	photoTooLarge:       "Fadlan dooro fayl ka yar 5MB.",
	failed:              "Fadlan mar kale isku day ama si toos ah noola soo xiriir.",
	failedTitle:         "Gudbintu way fashilantay",
	invalidTitle:        "Khalad ayaa ku jira foomka",
	tooMany:             "Warbixinno badan ayaa saacaddii la soo dhaafay ka yimid shabakaddaada. Fadlan mar dambe isku day ama si toos ah noola soo xiriir.",
	keyReused:           "Warbixintan waa la beddelay kaddib markii la diray. Fadlan u dir sidii warbixin cusub.",
	badRequest:          "Warbixinta lama akhrin karin.",
	pressAgain:          "Fadlan mar kale riix “Gudbi warbixinta” si aad warbixintaada u dirto.",
	PhotoKept:           "Sawirkaaga waa la hayaa, waxaana lala diri doonaa warbixinta.",
	chooseAgain:         "Fadlan mar kale dooro sawirkaaga.",
	noPhoto:             "Warbixinta waxaa loo gudbin doonaa sawir la’aan.",
	title:               "Soo sheeg badeecad",
	RequiredNote:        "Goobaha ku calaamadsan * waa loo baahan yahay.",
	Send:                "Gudbi warbixinta",
	yourReference:       "Lambarka tixraaca",
	ContactUs:           "Nala soo xiriir",
	Back:                "Ku noqo foomka maran",
	shownOnce:           "Lambarka tixraaca hal mar oo keliya ayaa la muujiyaa, si aanu u arkin qofka xiga ee qalabkan isticmaala.",
	Optional:            "ikhtiyaari",
	MoreFields:          "Ku dar sawir ama faahfaahin kale",
	CountryLabel:        "Koodhka waddanka",
	SelectRegion:        "Dooro gobol",
	ErrorSummary:        "Fadlan sax goobahan",
	OtherLanguage:       "English",
	Exit:                "Si degdeg ah uga bax boggan",
	Privacy:             "Asturnaanta",
	Disclaimer:          "Boggan waa waxbarasho oo keliya; ma beddelayo talada dhakhtarka. Annagu isbitaal ma nihin. Xaaladda degdegga ah, isla markiiba raadi daryeel caafimaad.",
	labels: map[string]string{
		"name": "Magacaaga", "phone": "Lambarka telefoonka", "product_name": "Magaca badeecadda",
		"where_bought": "Xaggee ka soo iibsatay?", "batch_number": "Lambarka dufcadda (batch)",
		"expiry_date": "Taariikhda dhicitaanka", "location": "Goobta", "issue_description": "Sharaxaadda dhibaatada",
		"photo": "Sawir",
	},
}

// problem returns one message about all invalid fields, for clients that show only one.
func (t *texts) problem(wrong map[string]string) string {
	var all []string
	for _, field := range slices.Sorted(maps.Keys(wrong)) {
		switch message := wrong[field]; message {
		case t.productRequired, t.descriptionRequired, t.phoneRequired, t.locationRequired:
			return t.fillRequired
		case t.notAnImage, t.photoTooLarge:
			all = append(all, message)
		default:
			all = append(all, t.labels[field]+": "+message)
		}
	}
	return strings.Join(all, " · ")
}

// other returns the texts of the other language.
func (t *texts) other() *texts {
	if t == &somali {
		return &english
	}
	return &somali
}

func textIn(language string) *texts {
	if language == "so" {
		return &somali
	}
	return &english
}

// languageOf returns the language of the reply: the language of the form, otherwise the first
// supported one in Accept-Language.
func languageOf(r *http.Request, form string) string {
	if form == "so" || form == "en" {
		return form
	}
	tags, _, _ := language.ParseAcceptLanguage(r.Header.Get("Accept-Language"))
	for _, tag := range tags { // ordered by preference
		if base, _ := tag.Base(); base.String() == "so" || base.String() == "en" {
			return base.String()
		}
	}
	return "en"
}

// translate returns an *edge.Error with its message in the language. Another error becomes the
// cause of a 500 whose message says only what to do next.
func (t *texts) translate(err error) *edge.Error {
	e, ok := edge.AsError(err)
	if !ok {
		return &edge.Error{Status: http.StatusInternalServerError, Code: "failed", Message: t.failed, Err: err}
	}
	said := *e
	switch {
	case e.Code == "idempotency_key_reused":
		said.Message = t.keyReused
	case e.Status == http.StatusTooManyRequests:
		said.Message = t.tooMany
	case e.Status >= 500:
		said.Message = t.failed
	case t.Language != "en" &&
		(strings.HasPrefix(e.Code, "bad_") || strings.HasPrefix(e.Code, "not_") || e.Code == "body_too_large"):
		said.Message = t.badRequest
	}
	return &said
}
