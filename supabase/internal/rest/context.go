package rest

import (
	"net/http"
	"strconv"
	"strings"
	"sync"

	"daawo/supabase/internal/db"
	"daawo/supabase/internal/rest/plan"
	"daawo/supabase/internal/rest/schema"
	"daawo/supabase/internal/rest/sql"
)

// roleSettings are the settings that a role has by alter role … set, which hold when it is impersonated too.
type roleSettings struct {
	isolation string
	settings  [][2]string
}

// kind is what decides which settings a request's transaction has; their values apart.
type kind struct {
	schema, role       string
	readOnly, timezone bool
	routine            *schema.Routine // nil for relations
}

// frame sets the settings of one kind of request, local to the transaction. Names stand in the statement: they come from
// the engine, the configuration and the catalogue. Values are parameters, of which those in the middle are the request's.
type frame struct {
	sql           string
	before, after [][]byte
	scope         string // of the statements that are prepared under these settings
}

// frames remembers the frames in use.
type frames struct {
	mu    sync.RWMutex
	known map[kind]*frame
}

// maxFrames bounds the memory: a token may name any role, also one that does not exist.
const maxFrames = 512

func (s *state) frame(k kind) *frame {
	s.frames.mu.RLock()
	f := s.frames.known[k]
	s.frames.mu.RUnlock()
	if f != nil {
		return f
	}
	f = s.makeFrame(k)
	s.frames.mu.Lock()
	defer s.frames.mu.Unlock()
	if s.frames.known == nil || len(s.frames.known) >= maxFrames {
		s.frames.known = map[kind]*frame{}
	}
	s.frames.known[k] = f
	return f
}

// makeFrame lays out the settings. The role's own come before the role, so that a privilege to set one need be the login
// role's only.
func (s *state) makeFrame(k kind) *frame {
	var names []string
	f := &frame{}
	fixed := func(list *[][]byte, name, value string) {
		names, *list = append(names, name), append(*list, []byte(value))
	}
	searchPath := sql.SearchPath(append([]string{k.schema}, s.config.ExtraSearchPath...))
	// Postgres fixes the types of a statement's parameters when it prepares it: after a column has become of another type,
	// statements prepared before would read values as of the old one. So each load of the schema prepares anew.
	f.scope = strconv.FormatUint(s.loads, 36) + "\x00" + k.role + "\x00" + searchPath
	if k.readOnly {
		fixed(&f.before, "transaction_read_only", "on")
	}
	fixed(&f.before, "search_path", searchPath)
	for _, kv := range s.roles[k.role].settings {
		fixed(&f.before, kv[0], kv[1])
	}
	fixed(&f.before, "role", k.role)
	names = append(names, "request.jwt.claims", "request.method", "request.path", "request.headers", "request.cookies")
	if k.timezone {
		names = append(names, "timezone")
	}
	if k.routine != nil {
		for _, kv := range k.routine.Settings {
			fixed(&f.after, kv[0], kv[1])
		}
	}
	for _, kv := range s.config.AppSettings {
		fixed(&f.after, kv[0], kv[1])
	}
	f.sql = setAll(names)
	return f
}

// setAll sets the named settings to the parameters, in their order. It answers how many they are, as the values
// themselves would only travel back; a function of Postgres takes at most 100 arguments.
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

// isolation gives the isolation level a request asks for; "" is Postgres' default.
func (s *state) isolation(id identity, p *plan.Plan) string {
	if p != nil && p.Call != nil && p.Call.Routine.Isolation != "" {
		return p.Call.Routine.Isolation
	}
	return s.roles[id.role].isolation
}

// context gives the statement that sets the settings of a request's transaction, and the scope of what is prepared under
// them. The values lie in room.
func (s *state) context(room *room, r *http.Request, q *request, id identity, p *plan.Plan, readOnly bool) (set db.Statement, scope string) {
	k := kind{schema: q.schema, role: id.role, readOnly: readOnly, timezone: q.Prefs.Timezone != nil}
	if p != nil && p.Call != nil {
		k.routine = p.Call.Routine
	}
	f := s.frame(k)
	args, b := append(room.args[:0], f.before...), room.bytes[:0]
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
	args = append(args, f.after...)
	room.args, room.bytes = args, b
	return db.Statement{SQL: f.sql, Args: args}, f.scope
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
		begin := len(b)
		b = appendPair(b, name, strings.Join(values, ", "))
		for i := begin; i < begin+len(name)+2; i++ { // names of headers are tokens: they have nothing to escape
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
