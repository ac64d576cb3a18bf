package rest

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"daawo/supabase/internal/rest/plan"
	"daawo/supabase/internal/rest/sql"
)

// Explain says what the engine would run for a request: the statement, formatted, and its parameters. Nothing is run, and
// tokens are not looked at: the role is the caller's business.
func (e *Engine) Explain(r *http.Request) (string, error) {
	s := e.state.Load()
	if s.cache == nil {
		return "", errNoSchema()
	}
	q, err := s.parse(r)
	if err != nil {
		return "", err
	}
	if q.resource == root {
		return "-- the root is answered from the catalogue; there is no statement\n", nil
	}
	p, perr := plan.Make(s.cache, &q.Request, plan.Options{MaxRows: s.config.MaxRows, Aggregates: s.config.Aggregates,
		LegacyTargetNames: s.config.LegacyTargetNames})
	if perr != nil {
		return "", perr
	}
	reply, _, err := s.negotiate(q, p, handlerTarget(q, p), r.Method == http.MethodHead)
	if err != nil {
		return "", err
	}
	reply.Count, reply.MaxRows = q.Prefs.Count, s.config.MaxRows
	reply.Location = p.Mutation != nil && q.Action == plan.Insert && q.Prefs.Return == "headers-only"
	return printed(sql.Make(p, reply)), nil
}

func printed(st sql.Statement) string {
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
