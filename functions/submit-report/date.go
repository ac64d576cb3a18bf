package submitreport

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"time"
)

// The years that an expiry date may have.
const minYear, maxYear = 1950, 2100

// yearFirst and yearLast are the date formats of the form: year-month[-day] and [day/]month/year.
// The site's script has the same expressions (web/src/screens/report/expiry-date.ts);
// testdata/cases.json keeps them equal.
var (
	yearFirst = regexp.MustCompile(`^` + sep + `*(\d{4})` + sep + `+(\d{1,2})(?:` + sep + `+(\d{1,2}))?` + sep + `*$`)
	yearLast  = regexp.MustCompile(`^` + sep + `*(?:(\d{1,2})` + sep + `+)?(\d{1,2})` + sep + `+(\d{4})` + sep + `*$`)
)

// sep is one separator: -, /, . or white space as isSpace has it.
const sep = `[-/.\s\v\p{Z}\x{FEFF}]`

// parseTypedDate parses an expiry date from the form and returns it as yyyy-MM-dd. A month without
// a day means the last day of that month, as on most packages.
func parseTypedDate(typed string) (iso string, ok bool) {
	var year, month, day string
	text := latinDigits(cleanLine(&typed))
	if m := yearFirst.FindStringSubmatch(text); m != nil {
		year, month, day = m[1], m[2], m[3]
	} else if m := yearLast.FindStringSubmatch(text); m != nil {
		day, month, year = m[1], m[2], m[3]
	}
	y, _ := strconv.Atoi(year) // at most four digits; none is year 0, which parseISODate refuses
	m, _ := strconv.Atoi(month)
	d, _ := strconv.Atoi(cmp.Or(day, strconv.Itoa(daysIn(y, m))))
	return parseISODate(fmt.Sprintf("%04d-%02d-%02d", y, m, d))
}

// parseISODate checks a date in the form yyyy-MM-dd, the only one that JSON may have.
func parseISODate(s string) (iso string, ok bool) {
	date, err := time.Parse(time.DateOnly, s)
	if err != nil || date.Year() < minYear || date.Year() > maxYear {
		return "", false
	}
	return s, true
}

func daysIn(year, month int) int {
	return time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
}
