package migrate

import "strings"

// split cuts a migration into its statements, in the form that the official CLI
// records: without the semicolons between them and the space around them, with
// the comments before them. It drops empty statements.
//
// A semicolon ends a statement only at the top level: outside of comments,
// quotes, parentheses and the bodies of SQL functions (BEGIN ATOMIC).
func split(text string) []string {
	var out []string
	s := splitter{text: strings.TrimPrefix(text, "\ufeff")}
	for start := 0; start < len(s.text); {
		end := s.statement(start)
		if stmt := strings.TrimSpace(s.text[start:end]); stmt != "" {
			out = append(out, stmt)
		}
		start = end + 1
	}
	return out
}

type splitter struct{ text string }

// statement returns the index of the semicolon that ends the statement at i,
// or the end of the text.
func (s splitter) statement(i int) int {
	var n nesting
	for i < len(s.text) {
		c := s.text[i]
		if c == ';' && n.top() {
			return i
		}
		if end, ok := s.opaque(i); ok {
			i = end
			continue
		}
		if isWord(c) {
			end := s.word(i)
			n.word(strings.ToLower(s.text[i:end]))
			i = end
			continue
		}
		n.symbol(c)
		i++
	}
	return len(s.text)
}

// nesting counts the open parentheses and blocks of a statement.
type nesting struct {
	parens, blocks int    // blocks are BEGIN ATOMIC and, inside it, CASE
	last           string // the previous token if it is a word, in lower case
}

func (n *nesting) top() bool { return n.parens == 0 && n.blocks == 0 }

func (n *nesting) word(word string) {
	switch {
	case word == "atomic" && n.last == "begin", n.blocks > 0 && word == "case":
		n.blocks++
	case n.blocks > 0 && word == "end":
		n.blocks--
	}
	n.last = word
}

func (n *nesting) symbol(c byte) {
	switch c {
	case '(':
		n.parens++
	case ')':
		n.parens = max(0, n.parens-1)
	}
	if c > ' ' {
		n.last = ""
	}
}

// opaque skips the comment or quoted string at i and returns its end. It
// returns false if there is none.
func (s splitter) opaque(i int) (int, bool) {
	switch c := s.text[i]; {
	case c == '-' && s.at(i+1) == '-':
		return s.lineComment(i), true
	case c == '/' && s.at(i+1) == '*':
		return s.blockComment(i), true
	case c == '\'' || c == '"':
		return s.quoted(i, c, false), true
	case c == '$':
		return s.dollarQuoted(i)
	case (c == 'e' || c == 'E') && s.at(i+1) == '\'':
		return s.quoted(i+1, '\'', true), true
	}
	return 0, false
}

// word returns the end of the word at i.
func (s splitter) word(i int) int {
	for i < len(s.text) && (isWord(s.text[i]) || s.text[i] == '$') {
		i++
	}
	return i
}

func (s splitter) at(i int) byte {
	if i < len(s.text) {
		return s.text[i]
	}
	return 0
}

func (s splitter) lineComment(i int) int {
	if n := strings.IndexByte(s.text[i:], '\n'); n >= 0 {
		return i + n + 1
	}
	return len(s.text)
}

// blockComment skips a comment; in Postgres they nest.
func (s splitter) blockComment(i int) int {
	depth := 0
	for i < len(s.text) {
		switch {
		case s.text[i] == '/' && s.at(i+1) == '*':
			depth++
			i += 2
		case s.text[i] == '*' && s.at(i+1) == '/':
			depth--
			i += 2
			if depth == 0 {
				return i
			}
		default:
			i++
		}
	}
	return len(s.text)
}

// quoted skips a quoted string or name. It treats a doubled quote as the end of
// one string and the start of another, which gives the same result.
func (s splitter) quoted(i int, quote byte, backslashes bool) int {
	for i++; i < len(s.text); i++ {
		switch {
		case s.text[i] == '\\' && backslashes:
			i++
		case s.text[i] == quote:
			if backslashes && s.at(i+1) == quote {
				i++ // stay inside: the rest may hold backslash escapes
				continue
			}
			return i + 1
		}
	}
	return len(s.text)
}

// dollarQuoted skips a dollar-quoted string, if one begins at i.
func (s splitter) dollarQuoted(i int) (int, bool) {
	end := i + 1
	for end < len(s.text) && isWord(s.text[end]) {
		end++
	}
	if s.at(end) != '$' || isDigit(s.at(i+1)) {
		return 0, false // a parameter, such as $1
	}
	tag := s.text[i : end+1]
	if n := strings.Index(s.text[end+1:], tag); n >= 0 {
		return end + 1 + n + len(tag), true
	}
	return len(s.text), true
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// isWord reports whether c can be part of a name. All bytes beyond ASCII can.
func isWord(c byte) bool {
	return c == '_' || isDigit(c) || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
}

// Statements cuts a file into its statements, without the semicolons between them.
func Statements(text string) []string { return split(text) }
