package rest

import (
	"net/http"
	"strconv"
	"strings"

	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/engine/rest/plan"
	"daawo/supabase/internal/engine/rest/schema"
	"daawo/supabase/internal/engine/rest/sql"
)

// roleSettings are the settings that "alter role … set" gives a role. They apply when the role is
// impersonated too.
type roleSettings struct {
	isolation string
	settings  [][2]string
}

// settingsKey selects the settings of a request's transaction. The values that the request itself
// gives are not part of it.
type settingsKey struct {
	schema, role       string
	readOnly, timezone bool
	routine            *schema.Routine // nil for relations
}

// sessionSettings is the statement that sets the settings of the requests with one settingsKey,
// local to the transaction. The names are part of the SQL: they come from the engine, the
// configuration and the catalogue. The values are parameters: before, then the request's, then
// after.
type sessionSettings struct {
	sql           string
	before, after [][]byte
	scope         string // see pool.Pool.Session
}

// maxSessionSettings bounds the cache of session settings. A token may name any role, even one that
// does not exist.
const maxSessionSettings = 512

func (s *state) sessionSettings(k settingsKey) *sessionSettings {
	if set, ok := s.settings.Get(k); ok {
		return set
	}
	set := s.makeSessionSettings(k)
	s.settings.Add(k, set)
	return set
}

// makeSessionSettings puts the settings in order. The role's own settings come before the role:
// then only the login role needs the privilege to set them.
func (s *state) makeSessionSettings(k settingsKey) *sessionSettings {
	var names []string
	set := &sessionSettings{}
	fixed := func(list *[][]byte, name, value string) {
		names, *list = append(names, name), append(*list, []byte(value))
	}
	searchPath := sql.SearchPath(append([]string{k.schema}, s.config.ExtraSearchPath...))
	// Postgres fixes the types of a statement's parameters when it prepares it. After a column
	// changes its type, an older prepared statement would read values as the old type. So every
	// load of the schema has a scope of its own.
	set.scope = strconv.FormatUint(s.loads, 36) + "\x00" + k.role + "\x00" + searchPath
	if k.readOnly {
		fixed(&set.before, "transaction_read_only", "on")
	}
	fixed(&set.before, "search_path", searchPath)
	for _, kv := range s.roles[k.role].settings {
		fixed(&set.before, kv[0], kv[1])
	}
	fixed(&set.before, "role", k.role)
	names = append(names, "request.jwt.claims", "request.method", "request.path", "request.headers", "request.cookies")
	if k.timezone {
		names = append(names, "timezone")
	}
	if k.routine != nil {
		for _, kv := range k.routine.Settings {
			fixed(&set.after, kv[0], kv[1])
		}
	}
	for _, kv := range s.config.AppSettings {
		fixed(&set.after, kv[0], kv[1])
	}
	set.sql = setAll(names)
	return set
}

// setAll returns the SQL that sets the named settings to the parameters, in their order. It selects
// the number of settings, because the values themselves would only travel back. A Postgres function
// takes at most 100 arguments, so long lists are split.
func setAll(names []string) string {
	const most = 64
	var b strings.Builder
	b.WriteString("select ")
	for i, name := range names {
		switch {
		case i == 0:
			b.WriteString("num_nonnulls(")
		case i%most == 0:
			b.WriteString("), num_nonnulls(")
		default:
			b.WriteString(", ")
		}
		b.WriteString("set_config(" + sql.Literal(name) + ", $" + itoa(i+1) + ", true)")
	}
	b.WriteString(")")
	return b.String()
}

// isolation returns the isolation level of a request's transaction; "" is Postgres' default.
func (s *state) isolation(id identity, p *plan.Plan) string {
	if p != nil && p.Call != nil && p.Call.Routine.Isolation != "" {
		return p.Call.Routine.Isolation
	}
	return s.roles[id.role].isolation
}

// setStatement returns the statement that sets the settings of a request's transaction, and the
// scope of the statements that are prepared under them. The values are stored in buf.
func (s *state) setStatement(buf *buffers, r *http.Request, q *request, id identity, p *plan.Plan,
	readOnly bool) (set pool.Statement, scope string) {
	k := settingsKey{schema: q.schema, role: id.role, readOnly: readOnly, timezone: q.Prefs.Timezone != nil}
	if p != nil && p.Call != nil {
		k.routine = p.Call.Routine
	}
	settings := s.sessionSettings(k)
	args, b := append(buf.args[:0], settings.before...), buf.values[:0]
	value := func(write func([]byte) []byte) {
		begin := len(b)
		b = write(b)
		args = append(args, b[begin:len(b):len(b)])
	}
	value(func(b []byte) []byte { return append(b, id.claims...) })
	value(func(b []byte) []byte { return append(b, r.Method...) })
	value(func(b []byte) []byte { return append(b, q.path...) })
	value(func(b []byte) []byte { return appendHeaders(b, r) })
	value(func(b []byte) []byte { return appendCookies(b, r) })
	if k.timezone {
		value(func(b []byte) []byte { return append(b, *q.Prefs.Timezone...) })
	}
	args = append(args, settings.after...)
	buf.args, buf.values = args, b
	return pool.Statement{SQL: settings.sql, Args: args}, settings.scope
}

// appendHeaders appends all headers except Cookie as one JSON object, with names in lower case.
func appendHeaders(b []byte, r *http.Request) []byte {
	b = append(b, '{')
	b = appendPair(b, "host", r.Host)
	for name, values := range r.Header {
		if name == "Cookie" {
			continue
		}
		b = append(b, ',')
		begin := len(b)
		b = appendPair(b, name, strings.Join(values, ", "))
		for i := begin; i < begin+len(name)+2; i++ { // header names are tokens, so nothing in them is escaped
			if 'A' <= b[i] && b[i] <= 'Z' {
				b[i] += 'a' - 'A'
			}
		}
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
