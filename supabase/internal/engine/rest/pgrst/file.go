package pgrst

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// parseFile parses a configuration file of lines key = value. A value is a string in double quotes,
// a number or a word;
// # begins a comment. In a string, \ escapes as in C, $$ is a dollar sign and $(NAME) an
// environment variable.
func parseFile(text string, getenv func(string) (string, bool)) (map[string]string, error) {
	values := map[string]string{}
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		key, rest, ok := strings.Cut(line, "=")
		key, rest = strings.TrimSpace(key), strings.TrimSpace(rest)
		if !ok || key == "" || strings.ContainsAny(key, " \t\"") {
			return nil, fmt.Errorf("line %d: expected key = value", i+1)
		}
		if !strings.HasPrefix(rest, `"`) {
			word, _, _ := strings.Cut(rest, "#")
			values[key] = strings.TrimSpace(word)
			continue
		}
		value, after, err := parseString(rest[1:], getenv)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		if after = strings.TrimSpace(after); after != "" && after[0] != '#' {
			return nil, fmt.Errorf("line %d: unexpected %q after the string", i+1, after)
		}
		values[key] = value
	}
	return values, nil
}

// parseString parses up to the closing quote. It returns the value and the text after the quote.
func parseString(s string, getenv func(string) (string, bool)) (value, rest string, err error) {
	var b strings.Builder
	for s != "" {
		switch {
		case s[0] == '"':
			return b.String(), s[1:], nil
		case s[0] == '\\' && len(s) > 1:
			switch s[1] {
			case 'n':
				b.WriteByte('\n')
			case 't':
				b.WriteByte('\t')
			case 'r':
				b.WriteByte('\r')
			default:
				b.WriteByte(s[1])
			}
			s = s[2:]
		case strings.HasPrefix(s, "$$"):
			b.WriteByte('$')
			s = s[2:]
		case strings.HasPrefix(s, "$("):
			name, after, ok := strings.Cut(s[2:], ")")
			if !ok {
				return "", "", fmt.Errorf("no closing parenthesis in %q", s)
			}
			v, _ := getenv(name)
			b.WriteString(v)
			s = after
		default:
			_, n := utf8.DecodeRuneInString(s)
			b.WriteString(s[:n])
			s = s[n:]
		}
	}
	return "", "", errors.New("no closing quote")
}
