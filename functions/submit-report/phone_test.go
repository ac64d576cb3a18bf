package submitreport

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nyaruka/phonenumbers"
)

var writePlans = flag.Bool("write-plans", false, "write phone-plans.txt from the metadata of the phonenumbers package")

// TestPhonePlans checks that phone-plans.txt is made from the metadata of the phonenumbers package.
func TestPhonePlans(t *testing.T) {
	all, err := phonenumbers.MetadataCollection()
	if err != nil {
		t.Fatal(err)
	}
	lines := map[string]string{}
	for _, m := range all.GetMetadata() {
		if m.GetId() != phonenumbers.GetRegionCodeForCountryCode(int(m.GetCountryCode())) {
			continue // its numbers are parsed by the plan of the main country
		}
		d := m.GetGeneralDesc()
		trim := func(list []int32) string { return strings.Trim(fmt.Sprint(list), "[]") }
		code := fmt.Sprint(m.GetCountryCode())
		lines[code] = strings.Join([]string{code, trim(d.GetPossibleLength()), trim(d.GetPossibleLengthLocalOnly()),
			m.GetNationalPrefixForParsing(), d.GetNationalNumberPattern(),
			strings.ReplaceAll(m.GetNationalPrefixTransformRule(), "$1", "${1}")}, "\t") + "\n"
	}
	var want strings.Builder
	for _, code := range slices.Sorted(maps.Keys(lines)) {
		want.WriteString(lines[code])
	}
	if *writePlans {
		if err := os.WriteFile("phone-plans.txt", []byte(want.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if phonePlans != want.String() {
		t.Error("phone-plans.txt is out of date: run go test ./functions/submit-report -run TestPhonePlans -write-plans")
	}
}

// reference returns what the phonenumbers package makes of a number.
func reference(phone string) string {
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

// TestPhonesAsReference checks that numbers of every country, typed in several ways, are read as
// the phonenumbers package reads them.
func TestPhonesAsReference(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	possible := 0
	check := func(phone string) {
		t.Helper()
		want := reference(phone)
		if got := e164(phone); got != want {
			t.Errorf("%q: %q, want %q", phone, got, want)
		}
		if want != "" {
			possible++
		}
	}
	for line := range strings.Lines(phonePlans) {
		code, _, _ := strings.Cut(line, "\t")
		for length := 1; length <= 16; length++ {
			national := ""
			for range length {
				national += fmt.Sprint(random.IntN(10))
			}
			for _, form := range []string{"+%s%s", "00%s %s", "+%s 0%s", "+ %s-(%s)", "%s%s"} {
				check(fmt.Sprintf(form, code, national))
			}
		}
		for _, kind := range []phonenumbers.PhoneNumberType{phonenumbers.FIXED_LINE, phonenumbers.MOBILE} {
			n, _ := strconv.Atoi(code) // digits
			region := phonenumbers.GetRegionCodeForCountryCode(n)
			if example := phonenumbers.GetExampleNumberForType(region, kind); example != nil {
				for _, format := range []phonenumbers.PhoneNumberFormat{phonenumbers.E164, phonenumbers.INTERNATIONAL,
					phonenumbers.NATIONAL} {
					check(phonenumbers.Format(example, format))
				}
			}
		}
	}
	for range 5000 { // Somali numbers without a code
		text := ""
		for range 1 + random.IntN(14) {
			text += string([]rune("0123456789061252+ -/().٠١٦٢５")[random.IntN(26)])
		}
		check(text)
	}
	if possible < 5000 {
		t.Errorf("%d possible numbers are too few to prove anything", possible)
	}
}

// TestPhoneExtensions checks that an extension is left out and that words are no number.
func TestPhoneExtensions(t *testing.T) {
	for typed, want := range map[string]string{
		"+252 61 2345678 ext. 12": "+252612345678", "+1 416 555 0123 x9": "+14165550123", "tel: 061 2345678": "+252612345678",
		"061 2345678 or 062": "", "1-800-FLOWERS": "",
	} {
		if got := e164(typed); got != want {
			t.Errorf("%q: %q, want %q", typed, got, want)
		}
	}
}
