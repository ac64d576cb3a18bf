package sql

import (
	"strconv"
	"strings"

	"daawo/supabase/internal/rest/ast"
	"daawo/supabase/internal/rest/plan"
	"daawo/supabase/internal/rest/schema"
)

// Body says how the rows become the body of the reply.
type Body uint8

// The bodies. BodyCustom calls a function or aggregate of the database.
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

// Reply says what the statement has to answer besides the rows' number.
type Reply struct {
	Body     Body
	Handler  schema.Name // BodyCustom: what is called
	Target   schema.Name // BodyCustom: the relation its argument is a row of; zero for any
	Count    string      // exact, planned, estimated or ""
	MaxRows  *int64
	Location bool // inserts: the key of the one row, as an array
	Explain  string
}

// The columns of the one row that every statement of this package answers, unless it explains.
const (
	ColTotal    = iota // rows without the range; null when not counted
	ColPage            // rows in the reply
	ColBody            // the body
	ColHeaders         // the setting response.headers; null or empty when nobody set it
	ColStatus          // the setting response.status, likewise
	ColLocation        // a JSON array of the key's values, or null; mutations only
	ColUpdated         // rows that an upsert found existing, or null; mutations only
)

const page = "pgrst_page"

// Make renders a planned request as its one statement.
func Make(p *plan.Plan, r Reply) Statement {
	var b builder
	b.Grow(1024)
	if r.Explain != "" {
		b.put("explain (", r.Explain, ") ")
	}
	switch {
	case p.Mutation != nil:
		b.write(p, r)
	case p.Call != nil:
		b.call(p, r)
	default:
		b.read(p, r)
	}
	return b.statement()
}

// Rows renders a planned read or call as a query that answers one JSON value for each row instead of one for them all.
func Rows(p *plan.Plan, r Reply) Statement {
	var b builder
	b.Grow(1024)
	row, function := page+".*", "row_to_json("
	if p.Call != nil {
		b.put("with ", plan.Source, " as (")
		b.invocation(p.Call)
		b.put(") ")
		if !p.Call.Routine.Composite {
			row, function = page+"."+scalarColumn, "to_json("
		}
	}
	b.put("select ")
	if r.Body == BodyJSONStripped {
		b.put("json_strip_nulls(", function, row, "))")
	} else {
		b.put(function, row, ")")
	}
	b.page(p.Read, r)
	return b.statement()
}

// Counted says whether the rows without the range have to be counted by a query of their own: not when nobody asks, and
// not when the rows of the reply are all there are.
func Counted(p *plan.Plan, r Reply) bool {
	return (r.Count == "exact" || r.Count == "estimated") && (r.MaxRows != nil || !p.Read.Range.IsAll())
}

// Total renders that query, of a read.
func Total(p *plan.Plan, r Reply) Statement {
	var b builder
	b.put("select ")
	b.total(p, r)
	return b.statement()
}

// Overrides asks for the settings response.headers and response.status, once the query of Rows has run.
const Overrides = "select " + overrides

const overrides = "current_setting('response.headers', true), current_setting('response.status', true)"

// Planned renders the query whose plan estimates the number of rows.
func Planned(p *plan.Plan) Statement {
	var b builder
	b.put("explain (format json) ")
	b.countFrom(p.Read)
	return b.statement()
}

func (b *builder) read(p *plan.Plan, r Reply) {
	b.rows("with ", p.Read, r)
	b.put("select ")
	b.total(p, r)
	b.put(", count(*), ")
	b.bodyOf(nil, r)
	b.settings()
	b.page(p.Read, r)
}

// csvRows is the expression that holds the rows of a CSV reply, which are needed twice: for the header and the lines.
const csvRows = "pgrst_rows"

func (b *builder) rows(keyword string, n *plan.Node, r Reply) {
	if r.Body == BodyCSV {
		b.put(keyword, csvRows, " as (")
		b.selectFrom(n)
		b.put(") ")
	}
}

func (b *builder) page(n *plan.Node, r Reply) {
	b.put(" from (")
	if r.Body == BodyCSV {
		b.put("select * from ", csvRows)
	} else {
		b.selectFrom(n)
	}
	b.put(") as ", page)
}

// total writes the number of rows without the range.
func (b *builder) total(p *plan.Plan, r Reply) {
	switch {
	case r.Count != "exact" && r.Count != "estimated":
		b.put("null")
	case !Counted(p, r):
		b.put(pageCount(p))
	default:
		b.put("(select count(*) from (")
		b.countFrom(p.Read)
		if r.Count == "estimated" && r.MaxRows != nil {
			// One more than can be shown tells that the estimate is wanted.
			b.put(" limit ", strconv.FormatInt(*r.MaxRows+1, 10))
		}
		b.put(") as pgrst_all)")
	}
}

func pageCount(p *plan.Plan) string {
	if p.Call != nil && !p.Call.Routine.SetOf {
		return "1"
	}
	return "count(*)"
}

func (b *builder) settings() {
	b.put(", ", overrides)
}

func (b *builder) write(p *plan.Plan, r Reply) {
	m := p.Mutation
	b.put("with ", plan.Source, " as (")
	b.mutation(m)
	b.put(")")
	b.rows(", ", p.Read, r)
	b.put(" select null, count(*), ")
	b.bodyOf(nil, r)
	b.settings()
	b.put(", ")
	if r.Location && len(m.Key) > 0 {
		b.put("case when count(*) = 1 then (select json_build_array(")
		b.list(len(m.Key), ", ", func(i int) {
			b.put("pgrst_row->>")
			b.literal(m.Key[i])
		})
		b.put(") from (select row_to_json(", plan.Source, ".*) as pgrst_row from ", plan.Source, " limit 1) as _) end")
	} else {
		b.put("null")
	}
	b.put(", ")
	if m.Resolution == "merge-duplicates" {
		b.put("nullif(current_setting('" + updatedSetting + "', true), '')")
	} else {
		b.put("null")
	}
	if r.Body == BodyNone {
		b.put(" from ", plan.Source, " as ", page)
		return
	}
	b.page(p.Read, r)
}

func (b *builder) call(p *plan.Plan, r Reply) {
	b.put("with ", plan.Source, " as (")
	b.invocation(p.Call)
	b.put(")")
	b.rows(", ", p.Read, r)
	b.put(" select ")
	b.total(p, r)
	b.put(", ", pageCount(p), ", ")
	b.bodyOf(p.Call.Routine, r)
	b.settings()
	b.page(p.Read, r)
}

// bodyOf writes the aggregate that makes the body. A function that returns one value or one row answers it bare.
func (b *builder) bodyOf(routine *schema.Routine, r Reply) {
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
		b.put("''")
	case BodyJSON, BodyJSONStripped, BodyObject, BodyObjectStripped:
		agg, empty := "json_agg("+row+")", "'[]'"
		if one {
			agg, empty = "(array_agg(to_json("+row+")))[1]", "'null'"
		}
		if strip {
			agg = "json_strip_nulls(" + agg + ")"
		}
		b.put("coalesce(", agg, ", ", empty, ")")
	case BodyGeoJSON:
		b.put("json_build_object('type', 'FeatureCollection', 'features', coalesce(json_agg(st_asgeojson(", page, ".*)::json), '[]'))")
	case BodyCSV:
		b.csv()
	case BodyCustom:
		b.name(r.Handler)
		b.put("(")
		if routine != nil && !routine.Composite && !routine.SetOf || r.Target == (schema.Name{}) {
			b.put(strings.TrimSuffix(row, ".*"))
		} else {
			b.put(page, "::")
			b.name(r.Target)
		}
		b.put(")")
	}
}

// csv writes a header line of the column names, then the rows. Postgres writes a row as (a,"b c") with CSV's quoting.
func (b *builder) csv() {
	b.put("(select coalesce(string_agg(key, ','), '') from (select json_object_keys(row) as key from ",
		"(select row_to_json(", csvRows, ".*) as row from ", csvRows, " limit 1) as _) as _) || E'\n' || ",
		"coalesce(string_agg(substring(", page, "::text, 2, length(", page, "::text) - 2), E'\n'), '')")
}

// ExplainOptions writes the options of explain for a plan media type.
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
