// Package catalog describes the objects of a database: tables, functions, types, privileges and
// the rest of pg_catalog. It holds one statement per kind of object. Each returns one row with one
// column, a JSON array whose objects have the members of postgres-meta's.
// https://github.com/supabase/postgres-meta
package catalog

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"daawo/supabase/internal/database/pool"
)

// Filter selects objects. The zero Filter selects those outside of the system schemas.
type Filter struct {
	Schemas []string // only these; empty means all
	Except  []string // not these; only without Schemas
	System  bool     // with the system schemas, or the predefined roles
	IDs     []string // only these: OIDs, and for columns "table.number"
	Schema  string   // only this schema, unless ""
	Table   string   // only of this table, unless ""
	// columns: only of the relation with this OID, unless ""
	Relation string
	Name     string // only this name, unless ""
	Limit    int    // 0 means no limit
	Offset   int

	Columns    bool // relations: with their columns
	TableTypes bool // types: with the row types of tables and views
	ArrayTypes bool // types: with the arrays of other types
	Generator  bool // columns and views: with what only generators of types use
}

// systemSchemas are the schemas that a Filter without System leaves out.
var systemSchemas = []string{"information_schema", "pg_catalog", "pg_toast"}

// statement collects the conditions and parameters of a list.
type statement struct {
	conditions []string
	args       [][]byte
}

// arg adds a parameter and returns its place.
func (s *statement) arg(value string) string {
	s.args = append(s.args, []byte(value))
	return "$" + strconv.Itoa(len(s.args))
}

// where adds a condition. Its %s are the places of the parameters.
func (s *statement) where(condition string, values ...string) {
	places := make([]any, len(values))
	for i, v := range values {
		places[i] = s.arg(v)
	}
	s.conditions = append(s.conditions, fmt.Sprintf(condition, places...))
}

// schemas adds the conditions of a Filter on the name of a schema.
func (s *statement) schemas(f Filter, name string) {
	except := f.Except
	if !f.System {
		except = append(append([]string{}, systemSchemas...), except...)
	}
	switch {
	case f.Schema != "":
		s.where(name+" = %s", f.Schema)
	case len(f.Schemas) > 0:
		s.where(name+" = any (%s::text[])", array(f.Schemas))
	case len(f.IDs) == 0 && f.Relation == "" && len(except) > 0:
		s.where(name+" <> all (%s::text[])", array(except))
	}
}

// ids adds the condition of a Filter on an OID.
func (s *statement) ids(f Filter, oid string) {
	if len(f.IDs) > 0 {
		s.where(oid+" = any (%s::oid[])", array(f.IDs))
	}
}

// name adds a condition on a name, unless it is "".
func (s *statement) name(column, name string) {
	if name != "" {
		s.where(column+" = %s", name)
	}
}

// and returns the conditions for the end of a where clause that has one already.
func (s *statement) and() string {
	if len(s.conditions) == 0 {
		return ""
	}
	return "\n   and " + strings.Join(s.conditions, "\n   and ")
}

// list returns the statement that returns the rows of sql as JSON, within the limits of the Filter.
func (s *statement) list(f Filter, sql string) pool.Statement {
	if f.Limit > 0 {
		sql += "\n limit " + strconv.Itoa(f.Limit)
	}
	if f.Offset > 0 {
		sql += "\n offset " + strconv.Itoa(f.Offset)
	}
	return pool.Statement{SQL: "select coalesce(json_agg(listed), '[]') from (" + sql + "\n) listed", Args: s.args}
}

// array returns the text of a text[].
func array(values []string) string {
	quote := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = `"` + quote.Replace(v) + `"`
	}
	return "{" + strings.Join(quoted, ",") + "}"
}

// Reader runs statements. A pool.Session is one.
type Reader interface {
	Run(ctx context.Context, statements []pool.Statement, read func(i int, rows *pgconn.ResultReader) error) error
}

// Read runs statements of this package in one round trip and returns their JSON.
func Read(ctx context.Context, r Reader, statements ...pool.Statement) ([]json.RawMessage, error) {
	out := make([]json.RawMessage, len(statements))
	err := r.Run(ctx, statements, func(i int, rows *pgconn.ResultReader) error {
		if rows.NextRow() {
			out[i] = append(json.RawMessage{}, rows.Values()[0]...)
		}
		_, err := rows.Close()
		return err
	})
	return out, err
}
