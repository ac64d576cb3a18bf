package logs

import (
	"fmt"
	"strings"
	"unicode"
)

// token is a word, a number, a string or an operator of a statement.
type token struct {
	kind tokenKind
	text string // of a word in lower case; of a string without quotes
	at   int    // offset in the statement
}

type tokenKind int

const (
	endToken tokenKind = iota
	wordToken
	numberToken
	stringToken
	operatorToken
)

// operators are the operators of two characters.
var operators = []string{"::", "<=", ">=", "!=", "<>", "||"}

// tokens splits a statement. Comments are left out.
func tokens(sql string) (all []token, err error) {
	for i := 0; i < len(sql); {
		rest := sql[i:]
		switch c := rest[0]; {
		case unicode.IsSpace(rune(c)):
			i++
		case strings.HasPrefix(rest, "--"):
			end := strings.IndexByte(rest, '\n')
			if end < 0 {
				end = len(rest)
			}
			i += end
		case c == '\'' || c == '"' || c == '`':
			text, n, ok := quoted(rest)
			if !ok {
				return nil, fmt.Errorf("the quote at character %d has no end", i+1)
			}
			kind := stringToken
			if c == '`' {
				kind = wordToken
			}
			all = append(all, token{kind, text, i})
			i += n
		case isDigit(c):
			n := strings.IndexFunc(rest, func(r rune) bool { return !unicode.IsDigit(r) && r != '.' })
			if n < 0 {
				n = len(rest)
			}
			all = append(all, token{numberToken, rest[:n], i})
			i += n
		case isLetter(c):
			n := strings.IndexFunc(rest, func(r rune) bool {
				return r > unicode.MaxASCII || !isLetter(byte(r)) && !isDigit(byte(r))
			})
			if n < 0 {
				n = len(rest)
			}
			all = append(all, token{wordToken, strings.ToLower(rest[:n]), i})
			i += n
		default:
			text := rest[:1]
			for _, op := range operators {
				if strings.HasPrefix(rest, op) {
					text = op
				}
			}
			if !strings.Contains("()[],.;=<>+-*/:|!", text[:1]) {
				return nil, fmt.Errorf("unexpected %q at character %d", text, i+1)
			}
			all = append(all, token{operatorToken, text, i})
			i += len(text)
		}
	}
	return append(all, token{endToken, "", len(sql)}), nil
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isLetter(c byte) bool { return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

// quoted returns the text in quotes at the start of s, and the length with quotes. A doubled quote
// or one after a backslash does not end it.
func quoted(s string) (text string, n int, ok bool) {
	var out strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s):
			if next := s[i+1]; next != s[0] && next != '\\' { // a pattern keeps its backslash
				out.WriteByte('\\')
			}
			i++
			out.WriteByte(s[i])
		case s[i] == s[0] && i+1 < len(s) && s[i+1] == s[0]:
			i++
			out.WriteByte(s[0])
		case s[i] == s[0]:
			return out.String(), i + 1, true
		default:
			out.WriteByte(s[i])
		}
	}
	return "", 0, false
}
