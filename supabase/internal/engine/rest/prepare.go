package rest

import (
	"net/http"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/engine/rest/ast"
	"daawo/supabase/internal/engine/rest/plan"
	"daawo/supabase/internal/engine/rest/schema"
	"daawo/supabase/internal/engine/rest/sql"
)

// prepared is a parsed and planned request: the parts that depend neither on the caller nor on the
// time nor on the values of the query (see grammar.Shape). It is immutable, and several requests
// may share it.
type prepared struct {
	request   *request
	plan      *plan.Plan
	reply     sql.Reply
	media     ast.MediaType
	fixed     fixedHeaders
	statement sql.Statement
	formats   []int16 // result formats of the statement
	form      resultForm
	embedded  int            // form columns: the number of last columns that are JSON to print as jsonb
	total     *sql.Statement // counts the rows, where the statement does not; nil for none
	estimate  *sql.Statement // explains the query, to estimate the number of rows; nil for none
}

// filled returns a statement with the values of a request.
func filled(st *sql.Statement, values []string, formats []int16) pool.Statement {
	return pool.Statement{SQL: st.SQL, Args: st.Filled(values), Formats: formats}
}

// resultForm is the form in which the statement returns the rows.
type resultForm uint8

const (
	oneValue resultForm = iota // one row, with the body and the counts; see sql.Make
	jsonRows                   // one JSON value per row
	// the columns of each row; the engine writes the JSON, which takes Postgres twice as long
	columns
)

// fixedHeaders are values of reply headers that are the same in every reply. Replies share the
// slices: code may replace the values of a header, but never change them in place.
type fixedHeaders struct{ contentType []string }

// prepare parses a request whose query has a shape, and plans it. OPTIONS and the root have no
// plan.
func (s *state) prepare(r *http.Request, shape string, t *stopwatch) (*prepared, error) {
	q, err := s.parse(r, shape)
	if err != nil {
		return nil, err
	}
	t.lap("parse")
	p := &prepared{request: q}
	if r.Method == http.MethodOptions || q.resource == root {
		return p, nil
	}
	made, perr := plan.Make(s.schemaCache, &q.Request,
		plan.Options{MaxRows: s.config.MaxRows, Aggregates: s.config.Aggregates,
			LegacyTargetNames: s.config.LegacyTargetNames})
	if perr != nil {
		return nil, perr
	}
	if s.config.RequireFilter {
		if err := checkFilter(made); err != nil {
			return nil, err
		}
	}
	if err := checkBounds(q.Query.Huge, s.config.MaxRows != nil); err != nil {
		return nil, err
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
	p.reply.Count, p.reply.MaxRows = q.Prefs.Count, s.config.MaxRows
	p.reply.Location = made.Mutation != nil && q.Action == plan.Insert && q.Prefs.Return == "headers-only"
	s.render(p)
	if c := q.Prefs.Count; (c == "planned" || c == "estimated") && made.Mutation == nil && made.Call == nil &&
		p.reply.Explain == "" {
		p.estimate = new(sql.Planned(made))
	}
	t.lap("plan")
	return p, nil
}

// render renders the statement in the form that takes Postgres the least time.
func (s *state) render(p *prepared) {
	limit, limited := p.plan.Read.Range.Limit()
	large := !limited || limit > maxAggregatedRows
	counted := sql.Counted(p.plan, p.reply)
	p.form = oneValue
	var columnsOnly sql.Statement
	if mayReadColumns(p, large, counted) {
		columnsOnly, p.embedded = sql.Columns(p.plan)
	}
	// A statement that has returned values that the engine cannot convert is not tried again.
	if columnsOnly.SQL != "" && !s.unconvertible.Contains(columnsOnly.SQL) {
		p.form = columns
	} else if large && mayReadRows(p, counted) {
		p.form = jsonRows
	}
	switch p.form {
	case oneValue:
		p.statement, p.formats = sql.Make(p.plan, p.reply), p.resultFormats()
		return
	case jsonRows:
		columnsOnly = sql.Rows(p.plan, p.reply)
	}
	p.statement, p.formats = columnsOnly, nil
	if counted {
		p.total = new(sql.Total(p.plan, p.reply))
	}
}

// mayReadColumns reports whether the engine may write the JSON of the rows. The count of a small
// page comes with the page, so that both are of one snapshot. A call must be one that may run
// twice, in case a type turns out to be unknown, and its rows must not be values.
func mayReadColumns(p *prepared, large, counted bool) bool {
	if p.plan.Mutation != nil || p.reply.Explain != "" || counted && !large {
		return false
	}
	if c := p.plan.Call; c != nil && (!c.Routine.SetOf || !c.Routine.Composite || counted || !p.readOnly()) {
		return false
	}
	return p.reply.Body == sql.BodyJSON || p.reply.Body == sql.BodyObject
}

// readOnly reports whether the transaction may only read.
func (p *prepared) readOnly() bool {
	if p.plan.Call != nil {
		return p.request.Method != http.MethodPost || p.plan.Call.Routine.Volatility != schema.Volatile
	}
	return p.plan.Mutation == nil
}

// mayReadRows reports whether Postgres may return one JSON value per row. A separate count would
// call a function twice.
func mayReadRows(p *prepared, counted bool) bool {
	return p.plan.Mutation == nil && p.reply.Explain == "" &&
		(p.reply.Body == sql.BodyJSON || p.reply.Body == sql.BodyJSONStripped) &&
		(p.plan.Call == nil || p.plan.Call.Routine.SetOf && !counted)
}

// resultFormats returns the result formats, binary for the body. The binary format of bytea is its
// bytes, the text format is hexadecimal.
func (p *prepared) resultFormats() []int16 {
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

// handlerTarget returns the relation or function whose media type handlers may produce the reply.
func handlerTarget(q *request, p *plan.Plan) schema.Name {
	if p.Call == nil {
		return q.Target
	}
	n := schema.Name{Schema: p.Call.Routine.Schema, Name: p.Call.Routine.Name.Name}
	if p.Call.Routine.Composite {
		n.Name = p.Call.Routine.Return.Name
	}
	return n
}

// checkFilter returns the error of the extension safeupdate for a plan that updates or deletes all
// rows of a table.
func checkFilter(p *plan.Plan) error {
	m := p.Mutation
	if m == nil || len(m.Where) > 0 {
		return nil
	}
	verb := ""
	switch {
	case m.Action == plan.Delete:
		verb = "DELETE"
	case m.Action == plan.Update && len(m.Columns) > 0: // without columns nothing changes
		verb = "UPDATE"
	default:
		return nil
	}
	return apierror.Errorf(http.StatusBadRequest, "21000", "%s requires a WHERE clause", verb)
}

// checkBounds returns Postgres' error for a limit or an offset that its bigint cannot hold. A
// server with a maximum of rows never sends such a limit to Postgres.
func checkBounds(h ast.Huge, limited bool) error {
	number := h.Limit
	if number == "" || limited {
		number = h.Offset
	}
	if number == "" {
		return nil
	}
	return apierror.Errorf(http.StatusBadRequest, "22003", "value \"%s\" is out of range for type bigint", number)
}

// checkPreferences returns an error for preferences that handling=strict does not allow.
func checkPreferences(q *request, p *plan.Plan) error {
	if !q.Prefs.Strict() {
		return nil
	}
	if len(q.Prefs.Invalid) > 0 {
		e := apierror.Errorf(400, "PGRST122", "Invalid preferences given with handling=strict")
		e.Details = "Invalid preferences: " + joinComma(q.Prefs.Invalid)
		return e
	}
	if p.Call != nil && q.Prefs.MaxAffected != nil && !p.Call.Routine.SetOf {
		return apierror.Errorf(400, "PGRST128",
			"Function must return SETOF or TABLE when max-affected preference is used with handling=strict")
	}
	return nil
}
