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

// settings collects set_config calls, local to the transaction and in order. Names stand in the statement: they come from
// the engine, the configuration and the catalogue. Values are parameters; they lie one after the other in room.
type settings struct {
	sql  strings.Builder
	args [][]byte
	room []byte
}

// name begins a setting; what is appended to room until done is called is its value.
func (s *settings) name(name string) {
	if len(s.args) == 0 {
		s.sql.WriteString("select ")
	} else {
		s.sql.WriteString(", ")
	}
	s.sql.WriteString("set_config(")
	s.sql.WriteString(sql.Literal(name))
	s.sql.WriteString(", $")
	s.sql.WriteString(itoa(len(s.args) + 1))
	s.sql.WriteString(", true)")
}

func (s *settings) done(begin int) {
	s.args = append(s.args, s.room[begin:len(s.room):len(s.room)])
}

func (s *settings) add(name, value string) {
	s.name(name)
	begin := len(s.room)
	s.room = append(s.room, value...)
	s.done(begin)
}

// statement sets them all.
func (s *settings) statement() db.Statement {
	return db.Statement{SQL: s.sql.String(), Args: s.args}
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
func (s *state) context(r *http.Request, q *request, id identity, p *plan.Plan, readOnly bool) (set *settings, searchPath string) {
	c := &s.config
	searchPath = sql.SearchPath(append([]string{q.schema}, c.ExtraSearchPath...))
	set = &settings{args: make([][]byte, 0, 16), room: make([]byte, 0, 1024)}
	set.sql.Grow(512)
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
	set.name("request.headers")
	begin := len(set.room)
	set.room = appendHeaders(set.room, r)
	set.done(begin)
	set.name("request.cookies")
	begin = len(set.room)
	set.room = appendCookies(set.room, r)
	set.done(begin)
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

// appendHeaders writes the headers but cookies as one object, their names in lower case.
func appendHeaders(b []byte, r *http.Request) []byte {
	b = append(b, '{')
	b = appendPair(b, "host", r.Host)
	for name, values := range r.Header {
		if name == "Cookie" {
			continue
		}
		b = append(b, ',')
		b = appendPair(b, strings.ToLower(name), strings.Join(values, ", "))
	}
	return append(b, '}')
}

func appendCookies(b []byte, r *http.Request) []byte {
	b = append(b, '{')
	if len(r.Header["Cookie"]) > 0 {
		for i, c := range r.Cookies() {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendPair(b, c.Name, c.Value)
		}
	}
	return append(b, '}')
}

func appendPair(b []byte, name, value string) []byte {
	b = appendJSON(b, name)
	b = append(b, ':')
	return appendJSON(b, value)
}
