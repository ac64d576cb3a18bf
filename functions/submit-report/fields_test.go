package submitreport

import (
	"fmt"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/nyaruka/phonenumbers"
)

func TestParseISODate(t *testing.T) {
	for typed, want := range map[string]bool{
		"2027-02-28": true, "2028-02-29": true, "2027-02-29": false, "28/2/2027": false, "02/2028": false,
		"2027-1-1": false, "1900-01-01": false, "2101-01-01": false, "٢٠٢٧-٠٢-٢٨": false, "soon": false,
	} {
		if got, ok := parseISODate(typed); ok != want || ok && got != typed {
			t.Errorf("%q: %q %v", typed, got, ok)
		}
	}
}

func TestPlaces(t *testing.T) {
	if n := len(regions()); n != 18 {
		t.Errorf("%d regions, want 18 (spec §3)", n)
	}
	for text, want := range map[string]place{
		"Banaadir":                 {"Banaadir", ""},
		"Banaadir, Hodan":          {"Banaadir", "Hodan"},
		" banaadir ,  HODAN ":      {"Banaadir", "Hodan"},
		"Togdheer, Burco":          {"Togdheer", "Burao"},
		"Banaadir, Atlantis":       {"Banaadir", ""},
		"a village near the coast": {},
		"":                         {},
	} {
		if got := findPlace(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func TestE164(t *testing.T) {
	for typed, want := range map[string]string{
		"+252 61 2345678": "+252612345678", "061 2345678": "+252612345678", "+1 (416) 555-0123": "+14165550123",
		"ask at the shop": "", "12": "", "": "",
		// 14 and 2 digits are possible in Germany
		"+49 30 123456789012": "", "+49 12": "", "+49 30 123456": "+4930123456",
	} {
		if got := e164(typed); got != want {
			t.Errorf("%q: %q, want %q", typed, got, want)
		}
	}
}

// Sweeps numbers of 1 to 18 digits in every country.
func TestPossiblePhonesMeetConstraint(t *testing.T) {
	form := regexp.MustCompile(`^\+[1-9][0-9]{4,14}$`) // the constraint of public.reports
	stored, left := 0, 0
	for region := range phonenumbers.GetSupportedRegions() {
		code := phonenumbers.GetCountryCodeForRegion(region)
		for digits := 1; digits <= 18; digits++ {
			typed := fmt.Sprintf("+%d2%s", code, strings.Repeat("1", digits-1))
			switch got := e164(typed); {
			case got == "":
				left++
			case form.MatchString(got):
				stored++
			default:
				t.Errorf("%s in %s is %q", typed, region, got)
			}
		}
	}
	if stored < 500 || left < 500 {
		t.Errorf("%d numbers are stored and %d left out: too few to prove anything", stored, left)
	}
}

func TestCleanInvalidUTF8(t *testing.T) {
	in := "a\xff"
	if got := clean(&in); got != "a\uFFFD" {
		t.Errorf("%+q", got)
	}
}

// A line end in another field than the description could forge lines in the administrators' mail.
func TestOneLineFields(t *testing.T) {
	text := " a\r\nb\tc\u2028d\u2029e\u0085f\x00g\u202e\n"
	got, _ := Fields{
		Name: &text, Phone: &text, ProductName: &text, BatchNumber: &text, ExpiryDate: &text, WhereBought: &text,
		Location: &text, PhotoURL: &text, IssueDescription: &text,
	}.check(&english, false)
	for _, value := range []string{got.name, got.phone, got.productName, got.batchNumber, got.whereBought, got.location,
		got.photoURL} {
		if value != "a b c d e f g" {
			t.Errorf("%q", value)
		}
	}
	if got.issueDescription != "a\nb\tc\u2028d\u2029efg" {
		t.Errorf("description %q", got.issueDescription)
	}
}

func TestLanguageOf(t *testing.T) {
	for _, c := range []struct{ form, header, want string }{
		{"", "", "en"}, {"", "so", "so"}, {"", "so-SO,so;q=0.9,en;q=0.8", "so"}, {"", "en;q=0.4, so;q=0.6", "so"},
		{"", "fr, de", "en"}, {"so", "en", "so"}, {"xx", "so", "so"}, {"", "\x00;;q=", "en"},
	} {
		r := httptest.NewRequest("POST", "/", nil)
		r.Header.Set("Accept-Language", c.header)
		if got := languageOf(r, c.form); got != c.want {
			t.Errorf("%q %q: %s, want %s", c.form, c.header, got, c.want)
		}
	}
}

func TestReferences(t *testing.T) {
	form := regexp.MustCompile(`^DW-[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$`) // the constraint of public.reports
	seen := map[string]bool{}
	for range 1000 {
		r := newReference()
		if !form.MatchString(r) || seen[r] {
			t.Fatalf("%s", r)
		}
		seen[r] = true
	}
}

func TestTextsInBothLanguages(t *testing.T) {
	for field, label := range english.labels {
		if label == "" || somali.labels[field] == "" {
			t.Errorf("label of %s: %q, %q", field, label, somali.labels[field])
		}
	}
	for _, x := range []*texts{&english, &somali} {
		for name, text := range map[string]string{
			"productRequired": x.productRequired, "descriptionRequired": x.descriptionRequired,
			"phoneRequired": x.phoneRequired, "locationRequired": x.locationRequired, "fillRequired": x.fillRequired,
			"badDate": x.badDate, "tooLong": x.tooLongFormat, "notAnImage": x.notAnImage,
			"photoTooLarge": x.photoTooLarge, "failed": x.failed, "failedTitle": x.failedTitle,
			"invalidTitle": x.invalidTitle, "tooMany": x.tooMany, "keyReused": x.keyReused, "badRequest": x.badRequest,
			"pressAgain": x.pressAgain, "chooseAgain": x.chooseAgain, "noPhoto": x.noPhoto, "title": x.title,
			"yourReference": x.yourReference, "shownOnce": x.shownOnce, "RequiredNote": x.RequiredNote,
			"Optional": x.Optional, "MoreFields": x.MoreFields, "CountryLabel": x.CountryLabel,
			"SelectRegion": x.SelectRegion, "PhotoKept": x.PhotoKept, "Send": x.Send, "ErrorSummary": x.ErrorSummary,
			"OtherLanguage": x.OtherLanguage, "Exit": x.Exit, "ContactUs": x.ContactUs, "Privacy": x.Privacy,
			"Back": x.Back, "Disclaimer": x.Disclaimer,
		} {
			if text == "" {
				t.Errorf("%s has no %s", x.Language, name)
			}
		}
	}
}
