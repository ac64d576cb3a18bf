package submitreport

import (
	"regexp"
	"unicode/utf8"

	"github.com/nyaruka/phonenumbers"
)

// Fields is the JSON body: exactly the nine fields of a report. Absent and null mean the same.
type Fields struct {
	Name             *string `json:"name"`
	Phone            *string `json:"phone"`
	ProductName      *string `json:"product_name" schema:"required"`
	BatchNumber      *string `json:"batch_number"`
	ExpiryDate       *string `json:"expiry_date" schema:"format=date"`
	WhereBought      *string `json:"where_bought"`
	IssueDescription *string `json:"issue_description" schema:"required"`
	Location         *string `json:"location"`
	PhotoURL         *string `json:"photo_url" doc:"Name of the uploaded file in the bucket of the photos."`
}

// report is a checked report, ready to be stored. "" is stored as null.
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
	photoClaim       string // token of the photo's uploader; not a part of the content
}

// check cleans the fields and returns the report and an error message per invalid field. The HTML
// form requires phone and location; JSON may omit them (spec §3).
func (f Fields) check(text *texts, form bool) (report, map[string]string) {
	r := report{
		language:         text.Language,
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
		required     string // message when empty; "" for an optional field
	}{
		{"name", r.name, ""},
		{"phone", r.phone, only(form, text.phoneRequired)},
		{"product_name", r.productName, text.productRequired},
		{"batch_number", r.batchNumber, ""},
		{"where_bought", r.whereBought, ""},
		{"issue_description", r.issueDescription, text.descriptionRequired},
		{"location", r.location, only(form, text.locationRequired)},
	} {
		most := limits().Characters[c.field]
		switch {
		case c.value == "" && c.required != "":
			wrong[c.field] = c.required
		case utf8.RuneCountInString(c.value) > most:
			wrong[c.field] = text.tooLong(most)
		}
	}
	if r.expiryDate != "" {
		parse := parseISODate
		if form {
			parse = parseTypedDate
		}
		date, ok := parse(r.expiryDate)
		if !ok {
			wrong["expiry_date"] = text.badDate
		}
		r.expiryDate = date
	}
	if !photoName.MatchString(r.photoURL) {
		// No stored photo has such a name. The report is stored without a photo.
		r.photoURL = limitRunes(r.photoURL, 100)
	}
	r.phoneE164 = e164(r.phone)
	r.place = findPlace(r.location)
	return r, wrong
}

// only returns s when the condition holds, otherwise "".
func only(when bool, s string) string {
	if when {
		return s
	}
	return ""
}

// internationalNumber is the check constraint of public.reports: at most 15 digits (ITU-T E.164).
// IsPossibleNumber accepts shorter and longer numbers of some countries, such as German ones of 2
// or 14 digits.
var internationalNumber = regexp.MustCompile(`^\+[1-9][0-9]{4,14}$`)

// e164 returns the number in international form, or "" when it is not a possible number. A number
// without a country code is taken as Somali.
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
