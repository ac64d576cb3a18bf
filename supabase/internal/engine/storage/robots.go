package storage

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"daawo/supabase/internal/engine/storage/objects"
)

const robotsWords = `all|noindex|nofollow|none|nosnippet|indexifembedded|notranslate|noimageindex`

var (
	robotsSimple     = regexp.MustCompile(`^(` + robotsWords + `)$`)
	robotsParametric = regexp.MustCompile(
		`^(max-snippet|max-image-preview|max-video-preview|unavailable_after):\s*(.*)$`)
	robotsDate = regexp.MustCompile(`^unavailable_after:\s*(.*)$`)
	robotsNext = regexp.MustCompile(`,\s*(` + robotsWords + `|[a-zA-Z0-9_-]+:)`)
)

// checkRobots returns an error unless value is a valid X-Robots-Tag header: a list of rules, each
// optionally for one crawler ("bot: noindex").
func checkRobots(value string) error {
	refuse := func(format string, args ...any) error {
		e := objects.ErrInvalidRequest("Invalid X-Robots-Tag header: " + fmt.Sprintf(format, args...))
		e.Details = objects.ErrorDetails{Error: "invalid_x_robots_tag"}
		return e
	}
	rest := strings.TrimSpace(value)
	if rest == "" {
		return refuse("X-Robots-Tag header value must be a non-empty string")
	}
	for rest != "" {
		var rule string
		if m := robotsDate.FindStringSubmatch(rest); m != nil { // the date may contain commas
			rule = rest
			if at := robotsNext.FindStringIndex(rest); at != nil {
				rule = rest[:at[0]]
			}
			rest = strings.TrimPrefix(rest[len(rule):], ",")
		} else {
			rule, rest, _ = strings.Cut(rest, ",")
		}
		rule, rest = strings.TrimSpace(rule), strings.TrimSpace(rest)
		if rule == "" {
			return refuse("X-Robots-Tag header contains empty rule")
		}
		if m := robotsParametric.FindStringSubmatch(rule); m != nil {
			if problem := robotsParameter(m[1], strings.TrimSpace(m[2])); problem != "" {
				return refuse("%s", problem)
			}
			continue
		}
		if robotsSimple.MatchString(rule) {
			continue
		}
		agent, rules, ok := strings.Cut(rule, ":")
		if !ok {
			return refuse("Invalid X-Robots-Tag rule: %q", rule)
		}
		if rules = strings.TrimSpace(rules); rules == "" {
			return refuse("X-Robots-Tag user agent %q has no rules specified", strings.TrimSpace(agent))
		}
		if err := checkRobots(rules); err != nil {
			return err
		}
	}
	return nil
}

// robotsParameter returns what is wrong with the value of a rule, or "".
func robotsParameter(name, value string) string {
	if value == "" {
		return fmt.Sprintf("X-Robots-Tag rule %q requires a value", name)
	}
	switch name {
	case "max-snippet", "max-video-preview":
		if n, err := strconv.Atoi(value); err != nil || n < -1 || value[0] == '+' {
			return fmt.Sprintf("X-Robots-Tag %q value must be an integer >= -1, got: %q", name, value)
		}
	case "max-image-preview":
		if value != "none" && value != "standard" && value != "large" {
			return fmt.Sprintf("X-Robots-Tag %q value must be one of: none, standard, large, got: %q", name, value)
		}
	case "unavailable_after":
		for _, layout := range []string{time.RFC3339, time.RFC1123, time.RFC1123Z, time.RFC850, time.DateOnly,
			time.DateTime, "02 Jan 2006 15:04:05 MST", "2 January 2006", "Mon, 2 Jan 2006 15:04:05 MST",
			"2006-01-02T15:04:05.000Z"} {
			if _, err := time.Parse(layout, value); err == nil {
				return ""
			}
		}
		return fmt.Sprintf("X-Robots-Tag %q value must be a valid date, got: %q", name, value)
	}
	return ""
}
