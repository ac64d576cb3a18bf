package product

import (
	"fmt"
	"net/mail"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"daawo/supabase/stack"
)

// contactPages are the contact channels that the pages of the site show.
var contactPages = []stack.PageVariable{
	{Name: "WHATSAPP_NUMBER", Default: "252000000000", Parse: parseWhatsApp,
		Doc: "WhatsApp number of the organisation, digits with country code. The default is an invalid number."},
	{Name: "CONTACT_EMAIL", Default: "support@example.org", Parse: parseEmail,
		Doc: "Public e-mail address of the organisation. The default is an invalid address."},
	{Name: "FACEBOOK_URL", Default: "https://www.facebook.com/", Parse: parseURL,
		Doc: "Facebook page of the organisation."},
	{Name: "ORGANISATION_PEOPLE", Parse: parseLines,
		Doc: "People of the organisation and their roles, separated by semicolons. " +
			"The pages show this and the next three only if they are set."},
	{Name: "ORGANISATION_ADDRESS", Parse: parseLines,
		Doc: "Address of the organisation. A semicolon starts a new line."},
	{Name: "ORGANISATION_PARTNERS", Parse: parseLines, Doc: "Partners of the organisation, separated by semicolons."},
	{Name: "ORGANISATION_REVIEWERS", Parse: parseLines,
		Doc: "Names and professions of those who check the texts, separated by semicolons."},
}

// variables are read by the functions of this product.
var variables = []stack.Variable{
	{Name: "REPORTS_PER_HOUR", Default: "600",
		Doc: "Reports that one client may send in an hour. Read by the function submit-report.", Check: atLeast(1)},
	{Name: "READS_PER_HOUR", Default: "600",
		Doc: "Downloads that one client may count in an hour. Read by the function track-download.", Check: atLeast(1)},
	{Name: "REPORTS_KEEP_DAYS",
		Doc: "Days, at least 30, for which a closed report and its photo are kept after the last change. If not set, reports are kept until an administrator deletes them. Read by the function prune.", Check: atLeast(30)},
}

// defaults replace default values of the stack.
var defaults = map[string]string{
	"DATABASE_READ_TABLES": "public.resources",
}

// atLeast returns a check for a whole number of at least least.
func atLeast(least int) func(string) error {
	return func(text string) error {
		if n, err := strconv.Atoi(text); err != nil || n < least {
			return fmt.Errorf("%q is not a whole number of at least %d; unset it for the default", text, least)
		}
		return nil
	}
}

var phoneDigits = regexp.MustCompile(`^[0-9]{7,15}$`)

func parseWhatsApp(text string) (string, error) {
	digits := strings.NewReplacer("+", "", " ", "", "-", "", "(", "", ")", "").Replace(text)
	if !phoneDigits.MatchString(digits) {
		return "", fmt.Errorf("%q is not a number of 7 to 15 digits with its country code and nothing else", text)
	}
	return digits, nil
}

// parseLines returns the parts between semicolons as lines.
func parseLines(text string) (string, error) {
	var lines []string
	for part := range strings.SplitSeq(text, ";") {
		if part = strings.Join(strings.Fields(part), " "); part != "" {
			lines = append(lines, part)
		}
	}
	if joined := strings.Join(lines, "\n"); len(joined) <= maxLines {
		return joined, nil
	}
	return "", fmt.Errorf("has more than %d bytes", maxLines)
}

// maxLines is the size of a value of parseLines in bytes. Each page carries it.
const maxLines = 1000

func parseEmail(text string) (string, error) {
	if a, err := mail.ParseAddress(text); err != nil || a.Address != text {
		return "", fmt.Errorf("%q is not an e-mail address", text)
	}
	return text, nil
}

func parseURL(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return "", fmt.Errorf("%q is not a URL that starts with http:// or https://", text)
	}
	return text, nil
}
