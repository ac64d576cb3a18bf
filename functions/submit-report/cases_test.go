package submitreport

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"daawo/supabase/edge"
)

// cases are the rules of the form as examples. The tests of the site's script read the same file
// (web/src/screens/report/cases.test.ts).
type cases struct {
	Dates          []struct{ Typed, Want *string } // a null Want means an invalid date
	Lines          []struct{ Typed, Want string }
	Texts          []struct{ Typed, Want string }
	Phones         []struct{ Country, Typed, Want string }
	PhotoNames     []struct{ Original, Want string }
	DoubtfulPhones []struct {
		Typed string
		Want  bool
	}
	Forms []struct {
		Values map[string]string
		Wrong  []string // names of the invalid fields, sorted
	}
}

func readCases(t *testing.T) cases {
	t.Helper()
	content, err := os.ReadFile("testdata/cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var c cases
	decoder := json.NewDecoder(strings.NewReader(string(content)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&c); err != nil {
		t.Fatal(err)
	}
	for name, n := range map[string]int{"dates": len(c.Dates), "lines": len(c.Lines), "texts": len(c.Texts),
		"phones": len(c.Phones), "doubtfulPhones": len(c.DoubtfulPhones), "photoNames": len(c.PhotoNames), "forms": len(c.Forms)} {
		if n == 0 {
			t.Fatalf("cases.json has no %s", name)
		}
	}
	return c
}

func formOf(values map[string]string) posted {
	form := posted{&edge.Form{Values: url.Values{}}, &english}
	for name, value := range values {
		form.Values.Set(name, value)
	}
	return form
}

func TestCasesDates(t *testing.T) {
	for _, c := range readCases(t).Dates {
		r, wrong := formOf(map[string]string{"expiry_date": *c.Typed}).fields().check(&english, true)
		if _, bad := wrong["expiry_date"]; bad != (c.Want == nil) || c.Want != nil && r.expiryDate != *c.Want {
			t.Errorf("%+q: %q, invalid %v", *c.Typed, r.expiryDate, bad)
		}
	}
}

func TestCasesText(t *testing.T) {
	all := readCases(t)
	for _, c := range all.Lines {
		if got := cleanLine(&c.Typed); got != c.Want {
			t.Errorf("line %+q: %+q, want %+q", c.Typed, got, c.Want)
		}
	}
	for _, c := range all.Texts {
		if got := clean(&c.Typed); got != c.Want {
			t.Errorf("text %+q: %+q, want %+q", c.Typed, got, c.Want)
		}
	}
}

func TestCasesPhones(t *testing.T) {
	for _, c := range readCases(t).Phones {
		if got := phoneNumber(c.Country, c.Typed); got != c.Want {
			t.Errorf("%s %+q: %q, want %q", c.Country, c.Typed, got, c.Want)
		}
	}
}

func TestCasesPhotoNames(t *testing.T) {
	for _, c := range readCases(t).PhotoNames {
		if !photoName.MatchString(c.Want) {
			t.Errorf("%q is not the name of a photo", c.Want)
		}
	}
}

func TestCasesForms(t *testing.T) {
	for _, c := range readCases(t).Forms {
		_, wrong := formOf(c.Values).fields().check(&english, true)
		if got := slices.Sorted(maps.Keys(wrong)); !slices.Equal(got, c.Wrong) {
			t.Errorf("%v: %v, want %v", c.Values, got, c.Wrong)
		}
	}
}

func TestLimits(t *testing.T) {
	for field, most := range limits().Characters {
		for _, c := range []struct {
			length int
			bad    bool
		}{{most, false}, {most + 1, true}} {
			_, wrong := formOf(map[string]string{field: strings.Repeat("ş", c.length)}).fields().check(&english, true)
			if (wrong[field] == english.tooLong(most)) != c.bad {
				t.Errorf("%s of %d characters: %q", field, c.length, wrong[field])
			}
		}
	}
	if limits().PhotoBytes != 5<<20 {
		t.Errorf("photos have at most %d bytes", limits().PhotoBytes)
	}
}

func TestLimitsMatchSchema(t *testing.T) {
	files, err := filepath.Glob("../../supabase/migrations/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatalf("no migrations: %v", err)
	}
	var schema strings.Builder
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		schema.Write(content)
	}
	for field, most := range limits().Characters {
		check := regexp.MustCompile(fmt.Sprintf(`constraint reports_%s_\w+ check \(.*char_length\(%s\) <= (\d+)\)`,
			field, field))
		found := check.FindAllStringSubmatch(schema.String(), -1)
		if len(found) == 0 || found[len(found)-1][1] != strconv.Itoa(most) {
			t.Errorf("%s: %d in limits.json, %v in public.reports", field, most, found)
		}
	}
}

// TestDoubtfulPhone checks that the form asks about a short number once and then accepts it.
func TestDoubtfulPhone(t *testing.T) {
	for _, c := range readCases(t).DoubtfulPhones {
		form := formOf(map[string]string{"phone": c.Typed})
		if got := form.doubtsPhone(); got != c.Want {
			t.Errorf("%q: asks %v, want %v", c.Typed, got, c.Want)
		}
		form.Values.Set("phone_asked", c.Typed)
		if form.doubtsPhone() {
			t.Errorf("%q: asks a second time", c.Typed)
		}
	}
	page, _ := shown(t, &english, map[string]string{"phone": "123"}, map[string]string{"phone": english.phoneDoubt})
	if want := `<input type="hidden" name="phone_asked" value="123">`; !strings.Contains(page, want) {
		t.Errorf("the page lacks %s", want)
	}
}
