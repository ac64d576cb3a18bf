package sql

import (
	"strconv"
	"strings"

	"daawo/supabase/internal/engine/rest/ast"
	"daawo/supabase/internal/engine/rest/plan"
	"daawo/supabase/internal/engine/rest/schema"
)

// Body is the format of the reply's body.
type Body uint8

// The formats. BodyCustom calls a function or aggregate of the database.
const (
	BodyNone Body = iota
	BodyJSON
	BodyJSONStripped
	BodyObject
	BodyObjectStripped
	BodyCSV
	BodyGeoJSON
	BodyCustom
)

// Reply sets what a statement returns besides the number of rows.
type Reply struct {
	Body     Body
	Handler  schema.Name // BodyCustom: the function or aggregate to call
	Target   schema.Name // BodyCustom: the relation whose row is its argument; zero for any
	Count    string      // exact, planned, estimated or ""
	MaxRows  *int64
	Location bool   // inserts: return the key of a single row, as an array
	Explain  string // the options of explain; "" runs the statement
}

// The columns of the one row that the statements of Make return, unless they explain.
const (
	ColTotal    = iota // rows without the range; null when not counted
	ColPage            // rows in the reply
	ColBody            // the body
	ColHeaders         // the setting response.headers; null or empty when it is not set
	ColStatus          // the setting response.status; null or empty when it is not set
	ColLocation        // a JSON array of the key's values, or null; mutations only
	ColUpdated         // rows that an upsert updated, or null; mutations only
)

const page = "pgrst_page"

// statementWriter writes whole statements.
type statementWriter struct {
	*writer
	reads   selectWriter
	sources sourceWriter
}

func newStatementWriter() statementWriter {
	w := &writer{}
	conds := condWriter{w}
	return statementWriter{writer: w, reads: selectWriter{condWriter: conds}, sources: sourceWriter{conds}}
}

// Make renders a planned request as one statement.
func Make(p *plan.Plan, r Reply) Statement {
	w := newStatementWriter()
	w.Grow(1024)
	if r.Explain != "" {
		w.put("explain (", r.Explain, ") ")
	}
	switch {
	case p.Mutation != nil:
		w.write(p, r)
	case p.Call != nil:
		w.call(p, r)
	default:
		w.read(p, r)
	}
	return w.statement()
}

// Rows renders a planned read or call as a query that returns one JSON value for each row.
func Rows(p *plan.Plan, r Reply) Statement {
	w := newStatementWriter()
	w.Grow(1024)
	row, function := page+".*", "row_to_json("
	if p.Call != nil {
		w.put("with ", plan.Source, " as (")
		w.sources.invocation(p.Call)
		w.put(") ")
		if !p.Call.Routine.Composite {
			row, function = page+"."+scalarColumn, "to_json("
		}
	}
	w.put("select ")
	if r.Body == BodyJSONStripped {
		w.put("json_strip_nulls(", function, row, "))")
	} else {
		w.put(function, row, ")")
	}
	w.page(p.Read, r)
	return w.statement()
}

// Columns renders a planned read or call as a query that returns the rows' columns. The last
// embedded columns are embedded relations of the type json, whose text the caller has to convert to
// jsonb's: the cast takes Postgres as long as the rest of the query.
func Columns(p *plan.Plan) (st Statement, embedded int) {
	w := newStatementWriter()
	w.Grow(512)
	if p.Call != nil {
		w.put("with ", plan.Source, " as (")
		w.sources.invocation(p.Call)
		w.put(") ")
	}
	if w.reads.json = mayEmbedJSON(p.Read); w.reads.json {
		for _, c := range p.Read.Children {
			if !c.Hidden() {
				embedded++
			}
		}
	}
	w.reads.selectFrom(p.Read)
	return w.statement(), embedded
}

// Counted reports whether a separate query must count the rows without the range. It returns false
// if the client did not ask for the number, or if the reply holds all rows.
func Counted(p *plan.Plan, r Reply) bool {
	return (r.Count == "exact" || r.Count == "estimated") && (r.MaxRows != nil || !p.Read.Range.IsAll())
}

// Total renders the query that counts the rows of a read.
func Total(p *plan.Plan, r Reply) Statement {
	w := newStatementWriter()
	w.put("select ")
	w.total(p, r)
	return w.statement()
}

// Overrides selects the settings response.headers and response.status, after the query of Rows or
// Columns.
const Overrides = "select " + overrides

const overrides = "current_setting('response.headers', true), current_setting('response.status', true)"

// Planned renders the statement whose plan estimates the number of rows.
func Planned(p *plan.Plan) Statement {
	w := newStatementWriter()
	w.put("explain (format json) ")
	w.reads.countFrom(p.Read)
	return w.statement()
}

func (w statementWriter) read(p *plan.Plan, r Reply) {
	w.rows("with ", p.Read, r)
	w.put("select ")
	w.total(p, r)
	w.put(", count(*), ")
	w.bodyOf(nil, r)
	w.settings()
	w.page(p.Read, r)
}

// csvRows is the common table expression of the rows of a CSV reply, which needs them twice: for
// the header and the lines.
const csvRows = "pgrst_rows"

// rows writes csvRows for a CSV reply, and nothing for others.
func (w statementWriter) rows(keyword string, n *plan.Node, r Reply) {
	if r.Body == BodyCSV {
		w.put(keyword, csvRows, " as (")
		w.reads.selectFrom(n)
		w.put(") ")
	}
}

// page writes the from clause with the rows of the reply.
func (w statementWriter) page(n *plan.Node, r Reply) {
	w.put(" from (")
	if r.Body == BodyCSV {
		w.put("select * from ", csvRows)
	} else {
		w.reads.selectFrom(n)
	}
	w.put(") as ", page)
}

// total writes the number of rows without the range.
func (w statementWriter) total(p *plan.Plan, r Reply) {
	switch {
	case r.Count != "exact" && r.Count != "estimated":
		w.put("null")
	case !Counted(p, r):
		w.put(pageCount(p))
	default:
		w.put("(select count(*) from (")
		w.reads.countFrom(p.Read)
		if r.Count == "estimated" && r.MaxRows != nil && p.Call == nil {
			// A count above MaxRows tells the engine to use the estimate, which calls do not have.
			w.put(" limit ", strconv.FormatInt(*r.MaxRows+1, 10))
		}
		w.put(") as pgrst_all)")
	}
}

// pageCount returns the expression for the number of rows in the reply.
func pageCount(p *plan.Plan) string {
	if p.Call != nil && !p.Call.Routine.SetOf {
		return "1"
	}
	return "count(*)"
}

func (w statementWriter) settings() {
	w.put(", ", overrides)
}

func (w statementWriter) write(p *plan.Plan, r Reply) {
	m := p.Mutation
	w.put("with ", plan.Source, " as (")
	w.sources.mutation(m)
	w.put(")")
	w.rows(", ", p.Read, r)
	w.put(" select null, count(*), ")
	w.bodyOf(nil, r)
	w.settings()
	w.put(", ")
	if r.Location && len(m.Key) > 0 {
		w.put("case when count(*) = 1 then (select json_build_array(")
		w.list(len(m.Key), ", ", func(i int) {
			w.put("pgrst_row->>")
			w.literal(m.Key[i])
		})
		w.put(") from (select row_to_json(", plan.Source, ".*) as pgrst_row from ", plan.Source, " limit 1) as _) end")
	} else {
		w.put("null")
	}
	w.put(", ")
	if m.Resolution == "merge-duplicates" {
		w.put("nullif(current_setting('" + updatedSetting + "', true), '')")
	} else {
		w.put("null")
	}
	if r.Body == BodyNone {
		w.put(" from ", plan.Source, " as ", page)
		return
	}
	w.page(p.Read, r)
}

func (w statementWriter) call(p *plan.Plan, r Reply) {
	w.put("with ", plan.Source, " as (")
	w.sources.invocation(p.Call)
	w.put(")")
	w.rows(", ", p.Read, r)
	w.put(" select ")
	w.total(p, r)
	w.put(", ", pageCount(p), ", ")
	if r.Body == BodyNone {
		w.put("coalesce(min(''), '')") // an aggregate, so that there is one row in any case
	} else {
		w.bodyOf(p.Call.Routine, r)
	}
	w.settings()
	w.page(p.Read, r)
}

// bodyOf writes the aggregate that makes the body. A function that returns one value or one row
// yields it without an array.
func (w statementWriter) bodyOf(routine *schema.Routine, r Reply) {
	row := page + ".*"
	one := r.Body == BodyObject || r.Body == BodyObjectStripped
	if routine != nil {
		if !routine.Composite {
			row = page + "." + scalarColumn
		}
		one = one || !routine.SetOf
	}
	strip := r.Body == BodyJSONStripped || r.Body == BodyObjectStripped
	switch r.Body {
	case BodyNone:
		w.put("''")
	case BodyJSON, BodyJSONStripped, BodyObject, BodyObjectStripped:
		agg, empty := "json_agg("+row+")", "'[]'"
		if one {
			agg, empty = "(array_agg(to_json("+row+")))[1]", "'null'"
		}
		if strip {
			agg = "json_strip_nulls(" + agg + ")"
		}
		w.put("coalesce(", agg, ", ", empty, ")")
	case BodyGeoJSON:
		w.put("json_build_object('type', 'FeatureCollection', 'features', coalesce(json_agg(st_asgeojson(", page,
			".*)::json), '[]'))")
	case BodyCSV:
		w.csv()
	case BodyCustom:
		w.name(r.Handler)
		w.put("(")
		if routine != nil && !routine.Composite && !routine.SetOf || r.Target == (schema.Name{}) {
			w.put(strings.TrimSuffix(row, ".*"))
		} else {
			w.put(page, "::")
			w.name(r.Target)
		}
		w.put(")")
	}
}

// csv writes a header line of the column names, then the rows. The text form of a row, (a,"b c"),
// has CSV's quoting.
func (w statementWriter) csv() {
	w.put("(select coalesce(string_agg(key, ','), '') from (select json_object_keys(row) as key from ",
		"(select row_to_json(", csvRows, ".*) as row from ", csvRows, " limit 1) as _) as _) || E'\n' || ",
		"coalesce(string_agg(substring(", page, "::text, 2, length(", page, "::text) - 2), E'\n'), '')")
}

// ExplainOptions returns the options of explain for a plan media type.
func ExplainOptions(m ast.MediaType) string {
	opts := "format text"
	if m.JSON {
		opts = "format json"
	}
	for o := range strings.SplitSeq(m.Options, "|") {
		switch o {
		case "analyze", "verbose", "settings", "buffers", "wal":
			opts += ", " + o
		}
	}
	return opts
}
