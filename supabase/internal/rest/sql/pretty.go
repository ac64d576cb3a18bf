package sql

import "strings"

// Pretty breaks a statement of this package into lines, one clause each, inner queries indented. It is for reading: it
// knows the SQL that this package writes, not all SQL.
func Pretty(statement string) string {
	clauses := []string{"with ", "select ", "from ", "left join ", "inner join ", "where ", "group by ", "order by ", "limit ",
		"insert into ", "update ", "delete from ", "set ", "returning ", "on conflict "}
	var b strings.Builder
	depth := 0
	var queries []bool // for each open parenthesis: does it hold a query
	line := func() {
		b.WriteByte('\n')
		b.WriteString(strings.Repeat("  ", depth))
	}
	for i := 0; i < len(statement); {
		rest := statement[i:]
		switch c := rest[0]; {
		case c == '"' || c == '\'':
			n := strings.IndexByte(rest[1:], c)
			if n < 0 {
				n = len(rest) - 2
			}
			b.WriteString(rest[:n+2])
			i += n + 2
			continue
		case c == '(':
			query := strings.HasPrefix(rest, "(select ") || strings.HasPrefix(rest, "(insert ") || strings.HasPrefix(rest, "(update ") ||
				strings.HasPrefix(rest, "(delete ")
			queries = append(queries, query)
			b.WriteByte('(')
			if query {
				depth++
				line()
			}
			i++
			continue
		case c == ')':
			if n := len(queries) - 1; n >= 0 {
				if queries[n] {
					depth--
					line()
				}
				queries = queries[:n]
			}
		case c == ' ' && (len(queries) == 0 || queries[len(queries)-1]):
			broke := false
			for _, clause := range clauses {
				if strings.HasPrefix(rest[1:], clause) && !strings.HasSuffix(b.String(), "distinct") && !strings.HasSuffix(b.String(), "delete") {
					line()
					broke = true
					break
				}
			}
			if broke {
				i++
				continue
			}
		}
		b.WriteByte(rest[0])
		i++
	}
	return b.String()
}
