package migrate

import "strings"

// split cuts a migration into its statements, as the official CLI records
// them: without the semicolons between them and the space around them, with
// the comments that precede them. Empty ones are dropped.
//
// A semicolon ends a statement only at the top level: outside of comments,
// quotes, parentheses and the bodies that SQL functions may have (BEGIN ATOMIC).
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
	parens, blocks := 0, 0 // open parentheses; open BEGIN ATOMIC and CASE
	last := ""             // the word before, in lower case
	for i < len(s.text) {
		c := s.text[i]
		switch {
		case c == ';' && parens == 0 && blocks == 0:
			return i
		case c == '-' && s.at(i+1) == '-':
			i = s.lineComment(i)
			continue
		case c == '/' && s.at(i+1) == '*':
			i = s.blockComment(i)
			continue
		case c == '\'' || c == '"':
			i = s.quoted(i, c, false)
			continue
		case c == '$':
			if end, ok := s.dollarQuoted(i); ok {
				i = end
				continue
			}
		case isWord(c):
			end := i
			for end < len(s.text) && (isWord(s.text[end]) || s.text[end] == '$') {
				end++
			}
			word := strings.ToLower(s.text[i:end])
			if word == "e" && s.at(end) == '\'' {
				i = s.quoted(end, '\'', true)
				continue
			}
			switch {
			case word == "atomic" && last == "begin":
				blocks++
			case blocks > 0 && word == "case":
				blocks++
			case blocks > 0 && word == "end":
				blocks--
			}
			last, i = word, end
			continue
		case c == '(':
			parens++
		case c == ')':
			parens = max(0, parens-1)
		}
		if c > ' ' {
			last = ""
		}
		i++
	}
	return len(s.text)
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

// quoted skips a quoted string or name. A doubled quote inside it reads as an
// end and a new beginning, which comes to the same.
func (s splitter) quoted(i int, quote byte, backslashes bool) int {
	for i++; i < len(s.text); i++ {
		switch {
		case s.text[i] == '\\' && backslashes:
			i++
		case s.text[i] == quote:
			if backslashes && s.at(i+1) == quote {
				i++ // stay inside: what follows still has backslashes
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

// isWord reports whether c may be part of a name; beyond ASCII all may.
func isWord(c byte) bool {
	return c == '_' || isDigit(c) || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
}
