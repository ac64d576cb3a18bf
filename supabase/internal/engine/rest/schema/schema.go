// Package schema is the schema cache: the tables and columns of the exposed schemas, relationships,
// functions, casts that represent domains, and handlers of media types. Load reads them in one
// round trip. A Cache is immutable; a reload replaces it.
//
// The engine, plan and openapi read it; it imports nothing of ours.
package schema

import "strings"

// Name is a qualified name of a relation, type or function.
type Name struct{ Schema, Name string }

func (n Name) String() string { return n.Schema + "." + n.Name }

// Column describes one column of a table. The tags are the keys in the JSON of tablesSQL.
type Column struct {
	Name     string   `json:"n"`
	Comment  *string  `json:"c"`
	Nullable bool     `json:"o"`
	Type     string   `json:"t"` // the type with domains over built-in types resolved, in the format of format_type
	Nominal  string   `json:"d"` // the declared type with its modifier
	MaxLen   *int32   `json:"m"`
	Default  *string  `json:"v"` // an SQL expression; nil for generated columns
	Enum     []string `json:"e"`
}

// Table is a table, view, materialised view, foreign or partitioned table.
type Table struct {
	Name
	Comment                          *string
	IsView                           bool
	Insertable, Updatable, Deletable bool
	Key                              []string // the primary key's columns, sorted by name
	Columns                          []Column

	byName map[string]int
}

// Column returns the column with a name.
func (t *Table) Column(name string) (*Column, bool) {
	i, ok := t.byName[name]
	if !ok {
		return nil, false
	}
	return &t.Columns[i], true
}

// Position returns the index of a column, for sorting.
func (t *Table) Position(name string) int { return t.byName[name] }

// Cardinality is the cardinality of a relationship, seen from its first table.
type Cardinality uint8

// The cardinalities. Functions have the computed ones.
const (
	ManyToOne Cardinality = iota
	OneToMany
	OneToOne
	ManyToMany
	ComputedToOne
	ComputedToMany
)

// ColumnPair joins a column of the first table to one of the other table.
type ColumnPair struct{ From, To string }

// Junction is the table between the two tables of a many-to-many relationship.
type Junction struct {
	Table                  Name
	FromConstraint         string // its foreign key to the first table
	ToConstraint           string // its foreign key to the other table
	FromColumns, ToColumns []ColumnPair
}

// Relationship is a relationship from Table to Foreign.
type Relationship struct {
	Table, Foreign             Name
	Self                       bool
	Cardinality                Cardinality
	Constraint                 string
	Columns                    []ColumnPair
	Junction                   *Junction
	Function                   Name // computed relationships
	TableIsView, ForeignIsView bool
	Inverse                    bool // seen from the table that the foreign key references
}

// ToOne reports whether a row relates to at most one row.
func (r *Relationship) ToOne() bool {
	return r.Cardinality == ManyToOne || r.Cardinality == OneToOne || r.Cardinality == ComputedToOne
}

// In returns the schema of the other table, or of the function.
func (r *Relationship) In() string {
	if r.Computed() {
		return r.Function.Schema
	}
	return r.Foreign.Schema
}

// Computed reports whether the relationship is a function.
func (r *Relationship) Computed() bool {
	return r.Cardinality == ComputedToOne || r.Cardinality == ComputedToMany
}

// Volatility is the volatility of a function.
type Volatility byte

// The volatilities, with the values of pg_proc.provolatile.
const (
	Immutable Volatility = 'i'
	Stable    Volatility = 's'
	Volatile  Volatility = 'v'
)

// Param is an input parameter of a function.
type Param struct {
	Name     string
	Type     string
	CastType string // Type in a form without a length, so that a cast does not truncate
	Required bool
	Variadic bool
}

// Routine is a callable function.
type Routine struct {
	Name
	Comment    *string
	Params     []Param
	Return     Name
	SetOf      bool
	Composite  bool // returns rows: a composite type, OUT parameters or TABLE
	Volatility Volatility
	Variadic   bool
	Isolation  string // default_transaction_isolation of the function; "" is none
	Settings   [][2]string
}

// scalar reports whether the function returns one value that is not a row.
func (r *Routine) scalar() bool { return !r.SetOf && !r.Composite }

// Void reports whether the function returns void.
func (r *Routine) Void() bool {
	return r.scalar() && r.Return == Name{"pg_catalog", "void"}
}

// Handler is a function or aggregate that produces a media type.
type Handler struct {
	Function  Name
	MediaType string // the resolved type: */* is application/octet-stream
}

// HandlerKey selects a handler by media type and target: a relation, a function, or anything (the
// zero Name).
type HandlerKey struct {
	Target    Name
	MediaType string
}

// Cache is the schema cache. It does not change after Load.
type Cache struct {
	Tables          map[Name]*Table
	Relationships   map[Name][]*Relationship // by first table
	Routines        map[Name][]*Routine
	Representations map[[2]string]string // (source type, target type) → function, in the format of regproc
	Handlers        map[HandlerKey]Handler
	UTF8            bool            // the database's encoding is UTF-8
	TextTypes       map[uint32]bool // OIDs of user-defined types whose JSON is their text in quotes

	names hints
}

// String returns the numbers of entries, in the words of PostgREST's log.
func (c *Cache) String() string {
	rels := 0
	for _, r := range c.Relationships {
		rels += len(r)
	}
	var b strings.Builder
	for i, part := range []struct {
		n    int
		what string
	}{{len(c.Tables), "Relations"}, {rels, "Relationships"}, {len(c.Routines), "Functions"},
		{len(c.Representations), "Domain Representations"}, {len(c.Handlers), "Media Type Handlers"}} {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(itoa(part.n) + " " + part.what)
	}
	return b.String()
}
