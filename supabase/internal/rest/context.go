package rest

import (
	"net/http"
	"strings"

	"daawo/supabase/internal/db"
	"daawo/supabase/internal/rest/plan"
	"daawo/supabase/internal/rest/sql"
)

// roleSettings are the settings that a role has by alter role … set, which hold when it is impersonated too.
type roleSettings struct {
	isolation string
	settings  [][2]string
}

// settings collects name and value pairs for set_config.
type settings struct{ args [][]byte }

func (s *settings) add(name, value string) {
	s.args = append(s.args, []byte(name), []byte(value))
}

// statement sets them all, local to the transaction and in order.
func (s *settings) statement() db.Statement {
	var b strings.Builder
	b.Grow(len(s.args) * 20)
	b.WriteString("select ")
	for i := 0; i < len(s.args); i += 2 {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString("set_config($" + itoa(i+1) + ", $" + itoa(i+2) + ", true)")
	}
	return db.Statement{SQL: b.String(), Args: s.args}
}

// isolation gives the isolation level a request asks for; "" is Postgres' default.
func (s *state) isolation(id identity, p *plan.Plan) string {
	if p != nil && p.Call != nil && p.Call.Routine.Isolation != "" {
		return p.Call.Routine.Isolation
	}
	return s.roles[id.role].isolation
}

// context gives the settings of a request's transaction. The role's own settings come before the role, so that a
// privilege to set one need be the login role's only.
func (s *state) context(r *http.Request, q *request, id identity, p *plan.Plan, readOnly bool) (set settings, searchPath string) {
	c := &s.config
	searchPath = sql.SearchPath(append([]string{q.schema}, c.ExtraSearchPath...))
	set.args = make([][]byte, 0, 24)
	if readOnly {
		set.add("transaction_read_only", "on")
	}
	set.add("search_path", searchPath)
	for _, kv := range s.roles[id.role].settings {
		set.add(kv[0], kv[1])
	}
	set.add("role", id.role)
	set.add("request.jwt.claims", id.claims)
	set.add("request.method", r.Method)
	set.add("request.path", q.path)
	set.add("request.headers", headersJSON(r))
	set.add("request.cookies", cookiesJSON(r))
	if q.Prefs.Timezone != nil {
		set.add("timezone", *q.Prefs.Timezone)
	}
	if p != nil && p.Call != nil {
		for _, kv := range p.Call.Routine.Settings {
			set.add(kv[0], kv[1])
		}
	}
	for _, kv := range c.AppSettings {
		set.add(kv[0], kv[1])
	}
	return set, searchPath
}

// headersJSON writes the headers but cookies as one object, their names in lower case.
func headersJSON(r *http.Request) string {
	b := make([]byte, 0, 512)
	b = append(b, '{')
	b = appendPair(b, "host", r.Host)
	for name, values := range r.Header {
		if name == "Cookie" {
			continue
		}
		b = append(b, ',')
		b = appendPair(b, strings.ToLower(name), strings.Join(values, ", "))
	}
	return string(append(b, '}'))
}

func cookiesJSON(r *http.Request) string {
	if len(r.Header["Cookie"]) == 0 {
		return "{}"
	}
	b := []byte{'{'}
	for i, c := range r.Cookies() {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendPair(b, c.Name, c.Value)
	}
	return string(append(b, '}'))
}

func appendPair(b []byte, name, value string) []byte {
	b = appendJSON(b, name)
	b = append(b, ':')
	return appendJSON(b, value)
}
