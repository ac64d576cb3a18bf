package rest

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"daawo/supabase/internal/db"
	"daawo/supabase/internal/rest/sql"
)

// Explain says what the engine would run for a request: the statement, formatted, and its parameters. Nothing is run, and
// tokens are not looked at: the role is the caller's business.
func (e *Engine) Explain(r *http.Request) (string, error) {
	s := e.state.Load()
	if s.cache == nil {
		return "", errNoSchema()
	}
	p, err := s.prepare(r, &stopwatch{})
	if err != nil {
		return "", err
	}
	if p.plan == nil {
		return "-- the root is answered from the catalogue; there is no statement\n", nil
	}
	return printed(p.statement), nil
}

func printed(st db.Statement) string {
	var b strings.Builder
	b.WriteString(sql.Pretty(st.SQL))
	b.WriteString(";\n")
	for i, a := range st.Args {
		value := "null"
		if a != nil {
			value = strconv.Quote(string(a))
		}
		fmt.Fprintf(&b, "-- $%d = %s\n", i+1, value)
	}
	return b.String()
}
