package meta

import (
	"net/http"
	"regexp"
	"strings"
)

// formatQuery replies with a statement in a readable layout.
func formatQuery(w http.ResponseWriter, r *http.Request) {
	var body queryRequest
	if err := readBody(r, &body); err != nil || body.Query == "" {
		fail(w, http.StatusBadRequest, "query not found")
		return
	}
	if len(body.Query) > maxFormat {
		fail(w, http.StatusRequestEntityTooLarge, "query is too long to format")
		return
	}
	replyText(w, formatSQL(body.Query))
}

// Limits of the formatter, whose time grows with the product of both.
const (
	maxFormat = 256 << 10 // bytes
	maxNested = 50        // parentheses in parentheses; deeper ones are not laid out
)

// tokens splits SQL: comments, strings (also with dollar quotes), quoted names, numbers, words,
// casts and other operators, and single characters.
var tokens = regexp.MustCompile(`(?s)--[^\n]*|/\*.*?\*/|\$(?:[\pL_][\pL\pN_]*)?\$|[Ee]'(?:[^'\\]|\\.|'')*'|` +
	`[BbXxNn]?'(?:[^']|'')*'|"(?:[^"]|"")*"|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|[\pL_$][\pL\pN_$]*|::|[-+*/<>=~!@#%^&|` + "`" + `?]+|\S`)

// clauses begin a line of their own. Their content is on the next lines, two columns further right.
var clauses = []string{"insert into", "delete from", "group by", "order by", "partition by", "on conflict", "do update",
	"do nothing", "select distinct", "select", "from", "where", "having", "limit", "offset", "fetch", "set", "values",
	"returning", "window", "with recursive", "with"}

// headers begin a line of their own, and their content stays on it.
var headers = []string{"insert into", "delete from", "update", "create table", "create or replace function",
	"create function", "create view", "create index", "create policy", "alter table", "drop table", "on conflict",
	"do nothing", "do update"}

// breaks begin a line within a clause.
var breaks = []string{"and", "or", "inner join", "left outer join", "left join", "right outer join", "right join",
	"full outer join", "full join", "cross join", "natural join", "join"}

// sets stand alone on a line.
var sets = []string{"union all", "union", "intersect all", "intersect", "except all", "except"}

// inlineWidth is the longest content of parentheses that stays on its line, in columns.
const inlineWidth = 50

// formatter lays out tokens.
type formatter struct {
	tokens []string
	out    strings.Builder
	indent int
	nested int  // parentheses around the token
	fresh  bool // the line has no text yet
	tight  bool // no space before the next token
	header bool // in a header, whose parentheses follow the name of a table
}

// formatSQL returns statements with a line for each part of a clause. It changes white space only.
func formatSQL(sql string) string {
	f := formatter{tokens: split(sql), fresh: true}
	for at := f.block(0); at < len(f.tokens); at = f.block(at + 1) {
		f.write(")") // without an opening one
	}
	return strings.TrimSpace(f.out.String()) + "\n"
}

// operators are the characters of SQL's operators.
const operators = "-+*/<>=~!@#%^&|`?"

// split returns the tokens of SQL. A dollar-quoted string is one token.
func split(sql string) (list []string) {
	for {
		sql = strings.TrimLeft(sql, " \t\n\f\r")
		if strings.HasPrefix(sql, "/*") && !strings.Contains(sql, "*/") {
			return append(list, sql) // a comment without an end
		}
		at := tokens.FindStringIndex(sql)
		if at == nil {
			return list
		}
		token, rest := sql[at[0]:at[1]], sql[at[1]:]
		if strings.HasPrefix(token, "$") && strings.HasSuffix(token, "$") && len(token) > 1 {
			if end := strings.Index(rest, token); end >= 0 {
				token, rest = token+rest[:end+len(token)], rest[end+len(token):]
			}
		}
		list, sql = append(list, token), rest
	}
}

// phrase returns the number of tokens at a place that are one of the phrases, 0 if none is.
func (f *formatter) phrase(at int, phrases []string) int {
	longest := 0
	for _, p := range phrases {
		words := strings.Fields(p)
		n := 0
		for n < len(words) && at+n < len(f.tokens) && strings.EqualFold(f.tokens[at+n], words[n]) {
			n++
		}
		if n == len(words) {
			longest = max(longest, n)
		}
	}
	return longest
}

// newline begins a line, unless the current one is empty.
func (f *formatter) newline(indent int) {
	if !f.fresh {
		f.out.WriteString("\n")
	}
	f.fresh, f.tight, f.indent = true, false, indent
}

// write writes a token, with a space before it where one belongs.
func (f *formatter) write(token string) {
	switch {
	case f.fresh:
		f.out.WriteString(strings.Repeat("  ", f.indent))
	case f.tight || strings.Contains(",;.)]", token) || token == "::":
	default:
		f.out.WriteString(" ")
	}
	f.out.WriteString(token)
	f.fresh, f.tight = false, token == "(" || token == "[" || token == "." || token == "::"
}

// block writes the tokens from at up to the closing parenthesis or the end, and returns its place.
func (f *formatter) block(at int) int {
	base := f.indent
	inClause := false // the content of a clause is indented
	for at < len(f.tokens) && f.tokens[at] != ")" {
		token := f.tokens[at]
		content := base
		if inClause {
			content++
		}
		if n := f.phrase(at, sets); n > 0 {
			f.newline(base)
			f.words(at, n)
			f.newline(base)
			at, inClause = at+n, false
			continue
		}
		if n := f.clause(at); n > 0 {
			header := f.phrase(at, headers) == n
			f.newline(base)
			f.words(at, n)
			f.header = header
			if at, inClause = at+n, !header; inClause {
				f.newline(base + 1)
			}
			continue
		}
		if n := f.phrase(at, breaks); n > 0 && inClause {
			f.newline(content)
			f.words(at, n)
			at += n
			continue
		}
		switch {
		case token == "(" && f.nested < maxNested:
			f.nested++
			at = f.parentheses(at, content)
			f.nested--
			continue
		case token == ";":
			f.write(token)
			f.newline(base)
			if at+1 < len(f.tokens) {
				f.out.WriteString("\n")
			}
			inClause, f.header = false, false
		case strings.HasPrefix(token, "--"):
			f.write(token)
			f.newline(content)
		default:
			f.write(token)
			if token == "," {
				f.newline(content)
			}
		}
		at++
	}
	return at
}

// clause returns the number of tokens of the clause that begins at a place. FROM in an expression,
// such as extract(… from …), is in parentheses that stay on their line.
func (f *formatter) clause(at int) int {
	if n := f.phrase(at, clauses); n > 0 {
		return n
	}
	if f.fresh && f.indent == 0 {
		return f.phrase(at, headers)
	}
	return 0
}

func (f *formatter) words(at, n int) {
	for _, word := range f.tokens[at : at+n] {
		f.write(word)
	}
}

// parentheses writes the parentheses that open at a place, and returns the place behind them. Short
// content stays on the line.
func (f *formatter) parentheses(at, indent int) int {
	end, depth, width := at, 0, 0
	subquery := f.phrase(at+1, []string{"select", "with", "insert into", "update", "delete from"}) > 0
	for ; end < len(f.tokens); end++ {
		if f.tokens[end] == "(" {
			depth++
		} else if f.tokens[end] == ")" {
			if depth--; depth == 0 {
				break
			}
		}
		width += len([]rune(f.tokens[end])) + 1
		subquery = subquery || strings.HasPrefix(f.tokens[end], "--")
	}
	f.tight = f.tight || f.called(at)
	if width <= inlineWidth && !subquery {
		for ; at <= end && at < len(f.tokens); at++ {
			f.tight = f.tight || f.called(at)
			f.write(f.tokens[at])
		}
		return at
	}
	f.write("(")
	f.header = false
	f.newline(indent + 1)
	at = f.block(at + 1)
	f.newline(indent)
	if at < len(f.tokens) {
		f.write(")")
		at++
	}
	return at
}

// called reports whether the parenthesis at a place follows the name of a function.
func (f *formatter) called(at int) bool {
	return f.tokens[at] == "(" && !f.header && at > 0 && callable.MatchString(f.tokens[at-1]) && f.phrase(at-1, notCalled) == 0
}

var callable = regexp.MustCompile(`^[\pL_"][\pL\pN_$" ]*$`)

// notCalled are words before parentheses that are not the name of a function.
var notCalled = []string{"in", "and", "or", "not", "as", "using", "check", "key", "values", "exists", "any", "all", "on",
	"with", "over", "filter", "where", "from", "select", "unique", "default", "when", "then", "else", "is", "like"}
