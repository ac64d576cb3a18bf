package rest

import (
	"encoding/binary"
	"net/http"
	"sync"

	"daawo/supabase/internal/db"
	"daawo/supabase/internal/rest/ast"
	"daawo/supabase/internal/rest/plan"
	"daawo/supabase/internal/rest/sql"
)

// prepared is a request that is understood: all of it that depends neither on who asks nor on when. It is not changed
// any more, and several requests may share it.
type prepared struct {
	request   *request
	plan      *plan.Plan
	reply     sql.Reply
	media     ast.MediaType
	fixed     fixedHeaders
	statement db.Statement
	rows      bool          // the statement answers a row for each row, to be gathered in a spool
	total     *db.Statement // counts the rows, where the statement does not
	estimate  *db.Statement // explains the query, when the number of rows is to be estimated
}

// fixedHeaders are values of reply headers that do not change from reply to reply. Replies share them: nothing writes
// into a header's values, it only puts others in their place.
type fixedHeaders struct{ contentType, contentLocation []string }

// prepare parses a request and plans it. For OPTIONS and for the root there is no plan.
func (s *state) prepare(r *http.Request, t *stopwatch) (*prepared, error) {
	q, err := s.parse(r)
	if err != nil {
		return nil, err
	}
	t.lap("parse")
	p := &prepared{request: q}
	if r.Method == http.MethodOptions || q.resource == root {
		return p, nil
	}
	made, perr := plan.Make(s.cache, &q.Request, plan.Options{MaxRows: s.config.MaxRows, Aggregates: s.config.Aggregates,
		LegacyTargetNames: s.config.LegacyTargetNames})
	if perr != nil {
		return nil, perr
	}
	p.plan = made
	p.reply, p.media, err = s.negotiate(q, made, handlerTarget(q, made), r.Method == http.MethodHead)
	if err != nil {
		return nil, err
	}
	if err := checkPreferences(q, made); err != nil {
		return nil, err
	}
	p.fixed.contentType = []string{p.media.ContentType()}
	if made.Call == nil && made.Mutation == nil {
		p.fixed.contentLocation = []string{contentLocation(q)}
	}
	p.reply.Count, p.reply.MaxRows = q.Prefs.Count, s.config.MaxRows
	p.reply.Location = made.Mutation != nil && q.Action == plan.Insert && q.Prefs.Return == "headers-only"
	p.render()
	if c := q.Prefs.Count; (c == "planned" || c == "estimated") && made.Mutation == nil && made.Call == nil && p.reply.Explain == "" {
		st := sql.Planned(made)
		p.estimate = &db.Statement{SQL: st.SQL, Args: st.Args}
	}
	t.lap("plan")
	return p, nil
}

// render writes the statement. One whose rows have no small bound is to answer them one by one.
func (p *prepared) render() {
	limit, limited := p.plan.Read.Range.Limit()
	counted := sql.Counted(p.plan, p.reply)
	p.rows = (!limited || limit > manyRows) && p.plan.Mutation == nil && p.reply.Explain == "" &&
		(p.reply.Body == sql.BodyJSON || p.reply.Body == sql.BodyJSONStripped) &&
		(p.plan.Call == nil || p.plan.Call.Routine.SetOf && !counted) // counting calls the function, which is done once
	if !p.rows {
		st := sql.Make(p.plan, p.reply)
		p.statement = db.Statement{SQL: st.SQL, Args: st.Args, Formats: p.formats()}
		return
	}
	st := sql.Rows(p.plan, p.reply)
	p.statement = db.Statement{SQL: st.SQL, Args: st.Args}
	if counted {
		st := sql.Total(p.plan, p.reply)
		p.total = &db.Statement{SQL: st.SQL, Args: st.Args}
	}
}

// formats asks for the body in binary, which is its bytes: a body of type bytea is not to come in hexadecimal.
func (p *prepared) formats() []int16 {
	if p.reply.Explain != "" {
		return nil
	}
	n := sql.ColStatus + 1
	if p.plan.Mutation != nil {
		n = sql.ColUpdated + 1
	}
	f := make([]int16, n)
	f[sql.ColBody] = 1
	return f
}

// recall is prepare with a memory: pages ask for the same few lists all day. Only what has no body is remembered, and
// only as long as the configuration and the schema stay, whose state it belongs to.
func (s *state) recall(r *http.Request, t *stopwatch) (*prepared, error) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return s.prepare(r, t)
	}
	var room [512]byte
	key := appendKey(room[:0], r)
	if p := s.memory.get(key); p != nil {
		t.lap("parse")
		t.lap("plan")
		return p, nil
	}
	p, err := s.prepare(r, t)
	if err == nil && p.plan != nil {
		s.memory.put(key, p)
	}
	return p, err
}

// shaping are the headers that prepare looks at, for requests without a body.
var shaping = [...]string{"Accept", "Accept-Profile", "Prefer", "Range", "Content-Type"}

// appendKey appends all that prepare looks at, each part with its length.
func appendKey(b []byte, r *http.Request) []byte {
	part := func(s string) {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	part(r.Method)
	part(r.URL.EscapedPath())
	part(r.URL.RawQuery)
	for _, name := range shaping {
		values := r.Header[name]
		b = binary.AppendUvarint(b, uint64(len(values)))
		for _, v := range values {
			part(v)
		}
	}
	return b
}

// The memory's bounds: how many requests are remembered, and how long they may be. An entry takes some kilobytes.
const (
	maxPrepared    = 512
	maxPreparedKey = 2048
)

// memory remembers prepared requests.
type memory struct {
	mu      sync.RWMutex
	entries map[string]*prepared
}

func (m *memory) get(key []byte) *prepared {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.entries[string(key)]
}

// put remembers a request. A full memory forgets some other: which one, the map decides.
func (m *memory) put(key []byte, p *prepared) {
	if len(key) > maxPreparedKey {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.entries == nil {
		m.entries = map[string]*prepared{}
	}
	for k := range m.entries {
		if len(m.entries) < maxPrepared {
			break
		}
		delete(m.entries, k)
	}
	m.entries[string(key)] = p
}
