package rest

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/engine/rest/sql"
)

// Explain returns the statement that the engine would run for a request, formatted, and its
// parameters. It runs nothing and ignores the request's token.
func (e *Engine) Explain(r *http.Request) (string, error) {
	s := e.state.Load()
	if s.schemaCache == nil {
		return "", errNoSchema()
	}
	shape, values := shapeOf(r)
	p, err := s.prepare(r, shape, &stopwatch{})
	if err != nil {
		return "", err
	}
	if p.plan == nil {
		return "-- the root has no statement: its reply comes from the catalogue\n", nil
	}
	return printed(filled(&p.statement, values, nil)), nil
}

func printed(st pool.Statement) string {
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
