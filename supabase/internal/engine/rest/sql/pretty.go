package sql

import "strings"

// Pretty formats a statement of this package for reading: one clause per line, inner queries
// indented. It supports only the SQL that this package writes.
func Pretty(statement string) string {
	p := printer{in: statement}
	for p.in != "" {
		p.next()
	}
	return p.out.String()
}

// printer formats a statement from left to right.
type printer struct {
	in      string // the rest of the statement
	out     strings.Builder
	depth   int
	queries []bool // for each open parenthesis: whether it holds a query
}

// copy moves n bytes from the input to the output.
func (p *printer) copy(n int) {
	p.out.WriteString(p.in[:n])
	p.in = p.in[n:]
}

func (p *printer) line() {
	p.out.WriteByte('\n')
	p.out.WriteString(strings.Repeat("  ", p.depth))
}

// next handles one quoted text or one character.
func (p *printer) next() {
	switch c := p.in[0]; c {
	case '"', '\'':
		n := strings.IndexByte(p.in[1:], c)
		if n < 0 {
			n = len(p.in) - 2
		}
		p.copy(n + 2)
	case '(':
		p.open()
	case ')':
		p.close()
	case ' ':
		if p.beginsClause() {
			p.line()
			p.in = p.in[1:]
			return
		}
		p.copy(1)
	default:
		p.copy(1)
	}
}

func (p *printer) open() {
	query := false
	for _, word := range [...]string{"(select ", "(insert ", "(update ", "(delete "} {
		query = query || strings.HasPrefix(p.in, word)
	}
	p.queries = append(p.queries, query)
	p.copy(1)
	if query {
		p.depth++
		p.line()
	}
}

func (p *printer) close() {
	if n := len(p.queries) - 1; n >= 0 {
		if p.queries[n] {
			p.depth--
			p.line()
		}
		p.queries = p.queries[:n]
	}
	p.copy(1)
}

// beginsClause reports whether the space at the beginning of the input separates two clauses.
func (p *printer) beginsClause() bool {
	if n := len(p.queries); n > 0 && !p.queries[n-1] {
		return false
	}
	out := p.out.String()
	if strings.HasSuffix(out, "distinct") || strings.HasSuffix(out, "delete") {
		return false
	}
	for _, clause := range [...]string{"with ", "select ", "from ", "left join ", "inner join ", "where ", "group by ",
		"order by ", "limit ", "insert into ", "update ", "delete from ", "set ", "returning ", "on conflict "} {
		if strings.HasPrefix(p.in[1:], clause) {
			return true
		}
	}
	return false
}
