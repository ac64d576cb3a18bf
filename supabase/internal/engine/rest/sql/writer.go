// Package sql renders plans as Postgres statements. Text of a request becomes either a parameter or
// a quoted identifier. The only exceptions are the names of casts, in which the grammar allows
// letters, digits, "_", "$" and spaces.
//
// The engine runs the statements. It imports plan, ast and schema, and no package that connects to
// a database.
package sql

import (
	"slices"
	"strconv"
	"strings"

	"daawo/supabase/internal/engine/rest/ast"
	"daawo/supabase/internal/engine/rest/schema"
)

// Statement is SQL text and its parameters in text form; nil is null. Postgres infers the types of
// the parameters from the columns that they are compared with or stored in.
type Statement struct {
	SQL   string
	Args  [][]byte
	Holes []Hole // the parameters that Args does not have, because they depend on the request's values
}

// Hole is a parameter that depends on the values of the request.
type Hole struct {
	index int
	of    func(values []string) []byte
}

// Filled returns the parameters for the values of a request. Statements share the other parameters:
// the caller must not change them.
func (s Statement) Filled(values []string) [][]byte {
	if len(s.Holes) == 0 {
		return s.Args
	}
	args := slices.Clone(s.Args)
	for _, h := range s.Holes {
		args[h.index] = h.of(values)
	}
	return args
}

// writer collects the text and the parameters of a statement. The other writers share one:
//
//	statementWriter   whole statements
//	├ selectWriter    the query of a tree of nodes
//	├ sourceWriter    the rows of a mutation or a call
//	└ condWriter      columns, conditions and order, for both
type writer struct {
	strings.Builder
	args  [][]byte
	holes []Hole
}

func (w *writer) statement() Statement { return Statement{w.String(), w.args, w.holes} }

// put writes SQL text. It must not be used for text of a request.
func (w *writer) put(parts ...string) {
	for _, p := range parts {
		w.WriteString(p)
	}
}

// param writes a parameter.
func (w *writer) param(v []byte) {
	w.args = append(w.args, v)
	w.WriteByte('$')
	w.WriteString(strconv.Itoa(len(w.args)))
}

// text writes a parameter.
func (w *writer) text(s string) { w.param([]byte(s)) }

// computed writes a parameter that is made of values, perhaps of the request's.
func (w *writer) computed(of func(values []string) []byte, from ...ast.Value) {
	if !slices.ContainsFunc(from, func(v ast.Value) bool { return v.Slot != 0 }) {
		w.param(of(nil))
		return
	}
	w.holes = append(w.holes, Hole{len(w.args), of})
	w.param(nil)
}

// value writes a value as a parameter.
func (w *writer) value(v ast.Value) {
	w.computed(func(values []string) []byte { return []byte(v.In(values)) }, v)
}

// pattern writes a value of like as a parameter.
func (w *writer) pattern(v ast.Value) {
	w.computed(func(values []string) []byte { return []byte(strings.ReplaceAll(v.In(values), "*", "%")) }, v)
}

// array writes values as one parameter, an array.
func (w *writer) array(list []ast.Value) {
	w.computed(func(values []string) []byte {
		texts := make([]string, len(list))
		for i, v := range list {
			texts[i] = v.In(values)
		}
		return arrayLiteral(texts)
	}, list...)
}

// ident writes a quoted identifier. NUL is dropped, because Postgres allows no NUL in identifiers.
func (w *writer) ident(name string) {
	w.WriteByte('"')
	for i := range len(name) {
		switch c := name[i]; c {
		case 0:
		case '"':
			w.WriteString(`""`)
		default:
			w.WriteByte(c)
		}
	}
	w.WriteByte('"')
}

// name writes a qualified name, or an alias if the schema is empty.
func (w *writer) name(n schema.Name) {
	if n.Schema != "" {
		w.ident(n.Schema)
		w.WriteByte('.')
	}
	w.ident(n.Name)
}

// column writes a column of a relation, or all columns for "*".
func (w *writer) column(of schema.Name, name string) {
	w.name(of)
	if name == "*" {
		w.put(".*")
		return
	}
	w.WriteByte('.')
	w.ident(name)
}

// list writes n elements with a separator between them.
func (w *writer) list(n int, sep string, each func(i int)) {
	for i := range n {
		if i > 0 {
			w.WriteString(sep)
		}
		each(i)
	}
}

// literal writes a string constant. It must not be used for text of a request.
func (w *writer) literal(s string) { w.put(" ", Literal(s)) }

var literals = strings.NewReplacer(`\`, `\\`, `'`, `''`, "\x00", "")

// Literal returns a string constant. It must not be used for text of a request.
func Literal(s string) string {
	if !strings.ContainsAny(s, "\\'\x00") {
		return "'" + s + "'"
	}
	return "E'" + literals.Replace(s) + "'"
}

// Ident returns a quoted identifier.
func Ident(name string) string {
	var w writer
	w.ident(name)
	return w.String()
}

// SearchPath returns the value of the setting search_path for a list of schemas.
func SearchPath(schemas []string) string {
	var w writer
	w.list(len(schemas), ", ", func(i int) { w.ident(schemas[i]) })
	return w.String()
}

// Qualified returns a quoted, qualified name.
func Qualified(n schema.Name) string {
	var w writer
	w.name(n)
	return w.String()
}
