package submitreport

import (
	"strings"
	"unicode"
)

// web/src/screens/report/clean-text.ts has the same rules.
// testdata/cases.json keeps them equal.

// clean normalises a text of several lines: it removes control characters except newline and tab,
// the bidirectional controls (which can make a name look like another), and white space at both
// ends. It replaces invalid UTF-8. A text without a visible character becomes "".
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
		case unicode.IsControl(c), c == 0x061C, c == 0x200E, c == 0x200F, c >= 0x202A && c <= 0x202E, c >= 0x2066 &&
			c <= 0x2069:
			return -1
		}
		return c
	}, text)
	if strings.IndexFunc(text, isVisible) < 0 {
		return ""
	}
	return strings.TrimFunc(text, isSpace)
}

// isVisible reports whether c shows something: no space, no format character such as the zero-width
// space, no filler.
func isVisible(c rune) bool {
	return !isSpace(c) && !unicode.In(c, unicode.Cf, unicode.Z, unicode.Variation_Selector) &&
		!strings.ContainsRune("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0", c)
}

// cleanLine is clean for a field of one line: it replaces line ends and other control characters
// with a space, so that the value cannot forge lines in a mail.
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

// isSpace reports whether c is white space in JavaScript: Unicode's white space and the byte order
// mark.
func isSpace(c rune) bool { return unicode.IsSpace(c) || c == 0xFEFF }

// latinDigits replaces Arabic-Indic and Persian digits, which some keyboards type, with 0 to 9.
func latinDigits(s string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c >= '٠' && c <= '٩':
			return c - '٠' + '0'
		case c >= '۰' && c <= '۹':
			return c - '۰' + '0'
		}
		return c
	}, s)
}

// limitRunes returns the first most characters of s.
func limitRunes(s string, most int) string {
	for i := range s {
		if most == 0 {
			return s[:i]
		}
		most--
	}
	return s
}
