package changes

import "strings"

// policyToken is a token of SQL.
type policyToken struct {
	kind       tokenKind
	text       string // an identifier without its quotes
	start, end int
	match      int // of a parenthesis or bracket: the index of the other one
}

type tokenKind int8

const (
	tokenName tokenKind = iota
	tokenQuoted
	tokenString
	tokenNumber
	tokenOperator
	tokenMark // a parenthesis, bracket, comma or dot
)

const operatorSigns = "+-*/<>=~!@#%^&|`?:"

// tokenize returns the tokens of an expression that Postgres wrote. ok is false if there is one
// that it does not know.
func tokenize(text string) (tokens []policyToken, ok bool) {
	var open []int
	for i := 0; i < len(text); {
		if c := text[i]; c == ' ' || c == '\n' || c == '\t' {
			i++
			continue
		}
		t, ok := nextToken(text, i)
		if !ok {
			return nil, false
		}
		switch {
		case t.kind == tokenMark && (t.text == "(" || t.text == "["):
			open = append(open, len(tokens))
		case t.kind == tokenMark && (t.text == ")" || t.text == "]"):
			if len(open) == 0 {
				return nil, false
			}
			t.match = open[len(open)-1]
			tokens[t.match].match = len(tokens)
			open = open[:len(open)-1]
		}
		tokens = append(tokens, t)
		i = t.end
	}
	return tokens, len(open) == 0 && len(tokens) > 0
}

// nextToken returns the token that begins at an index.
func nextToken(text string, i int) (t policyToken, ok bool) {
	t = policyToken{start: i, end: i + 1}
	switch c := text[i]; {
	case isNameByte(c) && (c < '0' || c > '9'):
		t.kind, t.end = tokenName, i+span(text[i:], isNameByte)
		if t.end < len(text) && text[t.end] == '\'' { // E'…' and the like
			return t, false
		}
	case c >= '0' && c <= '9':
		t.kind, t.end = tokenNumber, i+span(text[i:], func(c byte) bool { return isNameByte(c) || c == '.' })
	case c == '\'' || c == '"':
		inner, length := quotedText(text[i:])
		t.kind, t.end, t.text = tokenString, i+length, inner
		if c == '"' {
			t.kind = tokenQuoted
		}
		return t, length > 0
	case isOperatorByte(c):
		t.kind, t.end = tokenOperator, i+span(text[i:], isOperatorByte)
	case strings.IndexByte("()[],.", c) >= 0:
		t.kind = tokenMark
	default:
		return t, false
	}
	t.text = text[i:t.end]
	return t, true
}

func isOperatorByte(c byte) bool { return strings.IndexByte(operatorSigns, c) >= 0 }

func isNameByte(c byte) bool {
	return c == '_' || c == '$' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80
}

// span returns the number of bytes at the start of text that belong.
func span(text string, belongs func(byte) bool) int {
	n := 0
	for n < len(text) && belongs(text[n]) {
		n++
	}
	return n
}

// quotedText returns the content of the quoted text at the start of text, and its length with the
// quotes, or 0 if it does not end.
func quotedText(text string) (inner string, length int) {
	quote := text[0]
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		if text[i] != quote {
			b.WriteByte(text[i])
			continue
		}
		if i+1 < len(text) && text[i+1] == quote {
			i++
			b.WriteByte(quote)
			continue
		}
		return b.String(), i + 1
	}
	return "", 0
}
