package submitreport

import (
	_ "embed"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
)

// phonePlans has a line per country calling code: the code, the possible numbers of digits of a
// national number, the expressions of its national prefix and of its numbers, and what replaces the
// prefix. TestPhonePlans makes it from the metadata of libphonenumber, whose package would read all
// of them at each start of the program.
//
//go:embed phone-plans.txt
var phonePlans string

// phonePlan is the numbering plan of a country calling code.
type phonePlan struct {
	code            string
	lengths, local  []int          // local numbers are possible only without an area code
	prefix, numbers *regexp.Regexp // prefix is nil for none
	replacement     string
}

// somaliCode is the country calling code of numbers that have none.
const somaliCode = "252"

// somaliPlan is the plan of most numbers.
var somaliPlan = sync.OnceValue(func() phonePlan {
	p, _ := planOf(somaliCode) // TestPhonePlans
	return p
})

// planOf returns the plan of a country calling code.
func planOf(code string) (p phonePlan, ok bool) {
	for line := range strings.Lines(phonePlans) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if fields[0] != code {
			continue
		}
		p = phonePlan{code: code, lengths: integers(fields[1]), local: integers(fields[2]), replacement: fields[5],
			numbers: regexp.MustCompile("^(?:" + fields[4] + ")$")}
		if fields[3] != "" {
			p.prefix = regexp.MustCompile("^(?:" + fields[3] + ")")
		}
		return p, true
	}
	return p, false
}

func integers(text string) (list []int) {
	for word := range strings.FieldsSeq(text) {
		n, err := strconv.Atoi(word)
		if err != nil {
			panic(err) // TestPhonePlans
		}
		list = append(list, n)
	}
	return list
}

// possible reports whether a national number has a possible length.
func (p phonePlan) possible(national string) bool {
	return slices.Contains(p.lengths, len(national)) || slices.Contains(p.local, len(national))
}

// withoutPrefix removes the national prefix, except from a number that is one only with it.
func (p phonePlan) withoutPrefix(national string) string {
	if p.prefix == nil {
		return national
	}
	found := p.prefix.FindStringSubmatchIndex(national)
	if found == nil {
		return national
	}
	without := national[found[1]:]
	if last := found[len(found)-2]; p.replacement != "" && last >= 0 {
		without = string(p.prefix.ExpandString(nil, p.replacement, national, found)) + without
	}
	if p.numbers.MatchString(national) && !p.numbers.MatchString(without) {
		return national
	}
	return without
}

// internationalNumber is the check constraint of public.reports: at most 15 digits (ITU-T E.164).
// Some countries have possible numbers that are shorter or longer, such as German ones of 2 or 14
// digits.
var internationalNumber = regexp.MustCompile(`^\+[1-9][0-9]{4,14}$`)

// e164 returns the number in international form, or "" when it is not a possible number. A number
// without a country code is taken as Somali.
func e164(phone string) string {
	digits, international := dialled(phone)
	plan, national := domestic(digits)
	if international {
		var ok bool
		if plan, national, ok = splitCode(digits); !ok {
			return ""
		}
	}
	// A number whose rest is too short keeps its prefix: it may be a short one.
	without := plan.withoutPrefix(national)
	if slices.Contains(plan.lengths, len(without)) || len(without) > slices.Max(plan.lengths) {
		national = without
	}
	number := "+" + plan.code + national
	if !plan.possible(national) || !internationalNumber.MatchString(number) {
		return ""
	}
	return number
}

// splitCode splits the digits after a plus into the plan of the country calling code and the
// national number.
func splitCode(digits string) (p phonePlan, national string, ok bool) {
	if national, ok = strings.CutPrefix(digits, somaliCode); ok && national != "" {
		return somaliPlan(), national, true
	}
	for n := 1; n <= 3 && n < len(digits); n++ {
		if p, ok = planOf(digits[:n]); ok {
			return p, digits[n:], true
		}
	}
	return p, "", false
}

// domestic returns the Somali plan and the national number of digits that may begin with the
// country calling code without a plus.
func domestic(digits string) (p phonePlan, national string) {
	p = somaliPlan()
	if rest, ok := strings.CutPrefix(digits, somaliCode); ok {
		without := p.withoutPrefix(rest)
		if !p.numbers.MatchString(digits) && p.numbers.MatchString(without) || len(digits) > slices.Max(p.lengths) {
			return p, without
		}
	}
	return p, digits
}

// extension is the extension at the end of a typed number.
var extension = regexp.MustCompile(`(?i)[ ,;.]*(?:extn?|extension|x|#)[ .:=]*[0-9]{1,7}#?$`)

// dialled returns the digits of a typed number in ASCII, and whether they begin with a country
// calling code. A text with other letters or a plus between digits has none.
func dialled(phone string) (digits string, international bool) {
	begin := strings.IndexFunc(phone, func(r rune) bool { return isPlus(r) || isDigit(r) })
	if begin < 0 {
		return "", false
	}
	phone = extension.ReplaceAllString(phone[begin:], "")
	var out strings.Builder
	for _, r := range phone {
		switch {
		case isDigit(r):
			out.WriteByte('0' + byte(r&0xf))
		case unicode.IsLetter(r) || isPlus(r) && out.Len() > 0:
			return "", false
		case isPlus(r):
			international = true
		}
	}
	digits = out.String()
	if rest, ok := strings.CutPrefix(digits, "00"); ok && !strings.HasPrefix(rest, "0") {
		return rest, true
	}
	return digits, international
}

func isPlus(r rune) bool { return r == '+' || r == '＋' }

// isDigit reports whether a character is a digit in ASCII, in full width or in one of the two forms
// of Arabic. Each of these blocks begins at a multiple of 16.
func isDigit(r rune) bool {
	return '0' <= r && r <= '9' || '０' <= r && r <= '９' || '٠' <= r && r <= '٩' || '۰' <= r && r <= '۹'
}
