// Package sql renders plans as statements of Postgres. Text of a request reaches a statement only as a parameter or as
// a quoted identifier; the exceptions are cast names, which the grammar keeps to letters, digits, "_", "$" and blanks.
//
// The engine runs what it returns; it imports plan, ast and schema and nothing that connects.
package sql

import (
	"strconv"
	"strings"

	"daawo/supabase/internal/rest/schema"
)

// Statement is SQL text and its parameters in text form; nil is null. Their types are left to Postgres to infer, which
// is how a value becomes what the column it meets is.
type Statement struct {
	SQL  string
	Args [][]byte
}

type builder struct {
	strings.Builder
	args [][]byte
}

func (b *builder) statement() Statement { return Statement{b.String(), b.args} }

// put writes SQL text, never text of a request.
func (b *builder) put(parts ...string) {
	for _, p := range parts {
		b.WriteString(p)
	}
}

// param writes a parameter.
func (b *builder) param(v []byte) {
	b.args = append(b.args, v)
	b.WriteByte('$')
	b.WriteString(strconv.Itoa(len(b.args)))
}

func (b *builder) text(s string) { b.param([]byte(s)) }

// ident writes a quoted identifier. Postgres has no NUL in identifiers.
func (b *builder) ident(name string) {
	b.WriteByte('"')
	for i := range len(name) {
		switch c := name[i]; c {
		case 0:
		case '"':
			b.WriteString(`""`)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
}

// name writes a qualified name; without a schema it is an alias.
func (b *builder) name(n schema.Name) {
	if n.Schema != "" {
		b.ident(n.Schema)
		b.WriteByte('.')
	}
	b.ident(n.Name)
}

// column writes a column of a relation, or all of them.
func (b *builder) column(of schema.Name, name string) {
	b.name(of)
	if name == "*" {
		b.put(".*")
		return
	}
	b.WriteByte('.')
	b.ident(name)
}

// list writes n elements with a separator.
func (b *builder) list(n int, sep string, each func(i int)) {
	for i := range n {
		if i > 0 {
			b.WriteString(sep)
		}
		each(i)
	}
}

// literal writes a string constant. It is used for names that come from the catalogue only.
func (b *builder) literal(s string) { b.put(" ", Literal(s)) }

var literals = strings.NewReplacer(`\`, `\\`, `'`, `''`, "\x00", "")

// Literal writes a string constant. It is not for the text of a request.
func Literal(s string) string {
	if !strings.ContainsAny(s, "\\'\x00") {
		return "'" + s + "'"
	}
	return "E'" + literals.Replace(s) + "'"
}

// Ident quotes an identifier.
func Ident(name string) string {
	var b builder
	b.ident(name)
	return b.String()
}

// SearchPath writes a list of schemas as the setting wants it.
func SearchPath(schemas []string) string {
	var b builder
	b.list(len(schemas), ", ", func(i int) { b.ident(schemas[i]) })
	return b.String()
}

// Qualified writes a qualified name, for calling a configured function.
func Qualified(n schema.Name) string {
	var b builder
	b.name(n)
	return b.String()
}
