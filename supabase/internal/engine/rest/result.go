package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"

	"github.com/jackc/pgx/v5/pgconn"

	"daawo/supabase/internal/engine/rest/schema"
	"daawo/supabase/internal/engine/rest/sql"
)

// result is what the statements of a request returned.
type result struct {
	total    *int64 // rows without the range; nil when not counted
	page     int64  // rows in the reply
	body     spool
	headers  []byte
	status   []byte
	location []byte
	updated  int64
	planned  *int64
}

var errShape = errors.New("rest: the statement returned an unexpected row")

// decode reads the results of the statement with index i of the batch.
func (j *job) decode(res *result, i int, rows *pgconn.ResultReader) error {
	b := &j.batch
	switch {
	case i == b.main && j.reply.Explain != "":
		return res.readExplain(rows)
	case i == b.main && j.form == jsonRows:
		return res.readRows(rows, j.separator())
	case i == b.main && j.form == columns:
		return j.readColumns(res, rows)
	case i == b.main:
		return res.read(rows)
	case i == b.total:
		return res.readTotal(rows)
	case i == b.overrides:
		return res.readOverrides(rows)
	case i == b.estimate:
		return res.readEstimate(rows)
	}
	return nil
}

// read decodes the one row of a statement of sql.Make.
func (res *result) read(rows *pgconn.ResultReader) error {
	if !rows.NextRow() {
		return nil // closing rows returns the error, if there is one
	}
	v := rows.Values()
	if len(v) <= sql.ColStatus {
		return errShape
	}
	if v[sql.ColTotal] != nil {
		n, err := strconv.ParseInt(string(v[sql.ColTotal]), 10, 64)
		if err != nil {
			return err
		}
		res.total = &n
	}
	var err error
	if res.page, err = strconv.ParseInt(string(v[sql.ColPage]), 10, 64); err != nil {
		return err
	}
	res.body.set(v[sql.ColBody])
	res.headers = append(res.headers, v[sql.ColHeaders]...)
	res.status = append(res.status, v[sql.ColStatus]...)
	if len(v) > sql.ColUpdated {
		res.location = append(res.location, v[sql.ColLocation]...)
		if v[sql.ColUpdated] != nil {
			res.updated, err = strconv.ParseInt(string(v[sql.ColUpdated]), 10, 64)
		}
	}
	return err
}

func (res *result) readExplain(rows *pgconn.ResultReader) error {
	for rows.NextRow() {
		res.body.set(rows.Values()[0])
		res.body.set([]byte{'\n'})
	}
	return nil
}

// The text of an array as Postgres' json_agg writes it.
var (
	arrayBegin        = []byte("[")
	arraySeparator    = []byte(", \n ") // before rows and arrays
	valueSeparator    = []byte(", ")
	strippedSeparator = []byte(",")
	arrayEnd          = []byte("]")
	arrayNull         = []byte("null")
)

// separator returns the function that returns the text before an element of a statement of
// sql.Rows.
func (p *prepared) separator() func(element []byte) []byte {
	all := func(text []byte) func([]byte) []byte { return func([]byte) []byte { return text } }
	switch c := p.plan.Call; {
	case p.reply.Body == sql.BodyJSONStripped:
		return all(strippedSeparator)
	case c == nil || c.Routine.Composite:
		return all(arraySeparator)
	case c.Routine.Return == schema.Name{Schema: "pg_catalog", Name: "json"},
		c.Routine.Return == schema.Name{Schema: "pg_catalog", Name: "jsonb"}:
		return all(valueSeparator)
	default:
		return func(element []byte) []byte {
			if element[0] == '[' || element[0] == '{' {
				return arraySeparator
			}
			return valueSeparator
		}
	}
}

// readRows joins the rows of a statement of sql.Rows into one array, with the white space of
// Postgres' json_agg.
func (res *result) readRows(rows *pgconn.ResultReader, separator func([]byte) []byte) error {
	for rows.NextRow() {
		value := rows.Values()[0]
		if value == nil {
			value = arrayNull
		}
		before := arrayBegin
		if res.page > 0 {
			before = separator(value)
		}
		if err := res.body.write(before); err != nil {
			return err
		}
		if err := res.body.write(value); err != nil {
			return err
		}
		res.page++
	}
	if res.page == 0 {
		return res.body.write([]byte("[]"))
	}
	return errors.Join(res.body.write(arrayEnd), res.body.finish())
}

// readColumns converts the rows of a statement of sql.Columns to one array, or to one object.
func (j *job) readColumns(res *result, rows *pgconn.ResultReader) error {
	columns, err := columnsOf(rows.FieldDescriptions(), j.embedded, j.state.schemaCache)
	if err != nil {
		return err
	}
	array := j.reply.Body == sql.BodyJSON
	separator := arrayBegin
	for rows.NextRow() {
		res.page++
		if !array && res.page > 1 {
			continue // more than one row is an error
		}
		text := j.buffers.row[:0]
		if array {
			text = append(text, separator...)
		}
		if text, err = appendRow(text, columns, rows.Values(), &j.buffers.jsonb); err != nil {
			return err
		}
		j.buffers.row = text
		if err := res.body.write(text); err != nil {
			return err
		}
		separator = arraySeparator
	}
	switch {
	case !array && res.page == 0:
		err = res.body.write(arrayNull)
	case array && res.page == 0:
		err = res.body.write([]byte("[]"))
	case array:
		err = res.body.write(arrayEnd)
	}
	return errors.Join(err, res.body.finish())
}

func (res *result) readTotal(rows *pgconn.ResultReader) error {
	if !rows.NextRow() {
		return nil // closing rows returns the error, if there is one
	}
	n, err := strconv.ParseInt(string(rows.Values()[0]), 10, 64)
	res.total = &n
	return err
}

func (res *result) readOverrides(rows *pgconn.ResultReader) error {
	if rows.NextRow() {
		v := rows.Values()
		res.headers, res.status = bytes.Clone(v[0]), bytes.Clone(v[1])
	}
	return nil
}

func (res *result) readEstimate(rows *pgconn.ResultReader) error {
	if !rows.NextRow() {
		return nil
	}
	var out []struct {
		Plan struct {
			Rows int64 `json:"Plan Rows"`
		}
	}
	if err := json.Unmarshal(rows.Values()[0], &out); err != nil {
		return err
	}
	if len(out) > 0 {
		res.planned = &out[0].Plan.Rows
	}
	return nil
}
