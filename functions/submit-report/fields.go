package submitreport

import (
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/nyaruka/phonenumbers"
)

// Fields is the JSON body: exactly the nine fields of a report, absent and null being the same.
type Fields struct {
	Name             *string `json:"name"`
	Phone            *string `json:"phone"`
	ProductName      *string `json:"product_name"`
	BatchNumber      *string `json:"batch_number"`
	ExpiryDate       *string `json:"expiry_date"`
	WhereBought      *string `json:"where_bought"`
	IssueDescription *string `json:"issue_description"`
	Location         *string `json:"location"`
	PhotoURL         *string `json:"photo_url"`
}

// report is a checked report as it is stored. "" is stored as null.
type report struct {
	language         string
	name             string
	phone, phoneE164 string
	productName      string
	batchNumber      string
	expiryDate       string // yyyy-MM-dd
	whereBought      string
	issueDescription string
	location         string
	place            place
	photoURL         string
}

// Longest values in characters, as the table public.reports bounds them.
const (
	maxName        = 200
	maxPhone       = 50
	maxProduct     = 200
	maxBatch       = 100
	maxBought      = 500
	maxDescription = 5000
	maxLocation    = 200
)

// check cleans the fields and says what is wrong with them, by field. An HTML form's phone and location are required, as
// the page says; in JSON they may be missing (spec §3).
func (f Fields) check(text *texts, form bool) (report, map[string]string) {
	r := report{
		language:         text.language,
		name:             cleanLine(f.Name),
		phone:            cleanLine(f.Phone),
		productName:      cleanLine(f.ProductName),
		batchNumber:      cleanLine(f.BatchNumber),
		expiryDate:       cleanLine(f.ExpiryDate),
		whereBought:      cleanLine(f.WhereBought),
		issueDescription: clean(f.IssueDescription),
		location:         cleanLine(f.Location),
		photoURL:         cleanLine(f.PhotoURL),
	}
	wrong := map[string]string{}
	for _, c := range []struct {
		field, value string
		most         int
		required     string // message when empty; "" for an optional field
	}{
		{"name", r.name, maxName, ""},
		{"phone", r.phone, maxPhone, only(form, text.phoneRequired)},
		{"product_name", r.productName, maxProduct, text.productRequired},
		{"batch_number", r.batchNumber, maxBatch, ""},
		{"where_bought", r.whereBought, maxBought, ""},
		{"issue_description", r.issueDescription, maxDescription, text.descriptionRequired},
		{"location", r.location, maxLocation, only(form, text.locationRequired)},
	} {
		switch {
		case c.value == "" && c.required != "":
			wrong[c.field] = c.required
		case utf8.RuneCountInString(c.value) > c.most:
			wrong[c.field] = text.tooLong(c.most)
		}
	}
	if r.expiryDate != "" {
		day, ok := parseDay(r.expiryDate, form)
		if !ok {
			wrong["expiry_date"] = text.badDate
		}
		r.expiryDate = day
	}
	if !photoName.MatchString(r.photoURL) {
		// No photo of ours has such a name: it counts as missing, and the report is kept without it.
		r.photoURL = limitRunes(r.photoURL, 100)
	}
	r.phoneE164 = e164(r.phone)
	r.place = findPlace(r.location)
	return r, wrong
}

func only(when bool, s string) string {
	if when {
		return s
	}
	return ""
}

// clean trims and takes out what no text should hold: control characters but line ends and tabs, broken UTF-8, and
// the characters that turn the direction of writing, which can make a name look like another.
func clean(s *string) string {
	if s == nil {
		return ""
	}
	text := strings.ToValidUTF8(*s, "�")
	text = strings.ReplaceAll(text, "\r\n", "\n")
	text = strings.Map(func(c rune) rune {
		switch {
		case c == '\n' || c == '\t':
			return c
		case unicode.IsControl(c), c >= 0x202A && c <= 0x202E, c >= 0x2066 && c <= 0x2069:
			return -1
		}
		return c
	}, text)
	return strings.TrimSpace(text)
}

// cleanLine is clean for a field of one line: what ends a line, and every other control character, becomes a space. Such a
// field is shown and mailed as one line.
func cleanLine(s *string) string {
	if s == nil {
		return ""
	}
	line := strings.Map(func(c rune) rune {
		if unicode.IsControl(c) || unicode.In(c, unicode.Zl, unicode.Zp) {
			return ' '
		}
		return c
	}, strings.ReplaceAll(*s, "\r\n", " "))
	return clean(&line)
}

func limitRunes(s string, most int) string {
	for i := range s {
		if most == 0 {
			return s[:i]
		}
		most--
	}
	return s
}

// parseDay reads yyyy-MM-dd, and from a hand-filled form also day/month/year and, as most packs print it, month/year,
// which means that month's last day. It accepts what the page's own script accepts (parseExpiryDate).
func parseDay(s string, form bool) (string, bool) {
	if form {
		s = strings.Join(strings.FieldsFunc(s, func(c rune) bool { return strings.ContainsRune("-/. ", c) }), "-")
	}
	for _, f := range []struct {
		layout     string
		form, last bool // only in forms; the last day of the month
	}{
		{"2006-01-02", false, false},
		{"2006-1-2", true, false},
		{"2-1-2006", true, false},
		{"2006-1", true, true},
		{"1-2006", true, true},
	} {
		day, err := time.Parse(f.layout, s)
		if err != nil || f.form && !form {
			continue
		}
		if f.last {
			day = day.AddDate(0, 1, -1)
		}
		return day.Format(time.DateOnly), day.Year() >= 1950 && day.Year() <= 2100
	}
	return "", false
}

// internationalNumber is what the table public.reports takes: 15 digits at most, as ITU-T E.164 says. The numbering plans
// that IsPossibleNumber knows have shorter and longer numbers, too, such as a German one of 2 or 14 digits.
var internationalNumber = regexp.MustCompile(`^\+[1-9][0-9]{4,14}$`)

// e164 is the number in international form, "" when it cannot be one. A number without a country is taken as Somali.
func e164(phone string) string {
	n, err := phonenumbers.Parse(phone, "SO")
	if err != nil || !phonenumbers.IsPossibleNumber(n) {
		return ""
	}
	number := phonenumbers.Format(n, phonenumbers.E164)
	if !internationalNumber.MatchString(number) {
		return ""
	}
	return number
}
