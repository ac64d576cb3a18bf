// Package schema knows what the exposed schemas of a database hold: tables with their columns, relationships between
// them, functions, casts that represent domains, and handlers of media types. Load reads it in one pass; a Cache is
// immutable and is replaced as a whole.
//
// plan and openapi read it; it imports db's query surface only through pgx.
package schema

import "strings"

// Name is a qualified name of a relation, type or function.
type Name struct{ Schema, Name string }

func (n Name) String() string { return n.Schema + "." + n.Name }

// Column describes one column of a table. The tags are the keys under which tablesSQL writes it.
type Column struct {
	Name     string   `json:"n"`
	Comment  *string  `json:"c"`
	Nullable bool     `json:"o"`
	Type     string   `json:"t"` // the type with domains over built-in types resolved, as format_type writes it
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

// Column finds a column by name.
func (t *Table) Column(name string) (*Column, bool) {
	i, ok := t.byName[name]
	if !ok {
		return nil, false
	}
	return &t.Columns[i], true
}

// Position gives the place of a column, for sorting.
func (t *Table) Position(name string) int { return t.byName[name] }

// Cardinality of a relationship, read from the table it starts at.
type Cardinality uint8

// The cardinalities. Computed ones come from functions.
const (
	ManyToOne Cardinality = iota
	OneToMany
	OneToOne
	ManyToMany
	ComputedToOne
	ComputedToMany
)

// ColumnPair joins a column of the starting table to one of the other table.
type ColumnPair struct{ From, To string }

// Junction is the table between the two of a many-to-many relationship.
type Junction struct {
	Table                  Name
	FromConstraint         string // its foreign key to the starting table
	ToConstraint           string // its foreign key to the other table
	FromColumns, ToColumns []ColumnPair
}

// Relationship leads from Table to Foreign.
type Relationship struct {
	Table, Foreign             Name
	Self                       bool
	Cardinality                Cardinality
	Constraint                 string
	Columns                    []ColumnPair
	Junction                   *Junction
	Function                   Name // computed relationships
	TableIsView, ForeignIsView bool
	Inverse                    bool // seen from the table that the foreign key points to
}

// ToOne says whether at most one row is at the other end.
func (r *Relationship) ToOne() bool {
	return r.Cardinality == ManyToOne || r.Cardinality == OneToOne || r.Cardinality == ComputedToOne
}

// In gives the schema through which the relationship is found: the other table's, or the function's.
func (r *Relationship) In() string {
	if r.Computed() {
		return r.Function.Schema
	}
	return r.Foreign.Schema
}

// Computed says whether the relationship is a function.
func (r *Relationship) Computed() bool {
	return r.Cardinality == ComputedToOne || r.Cardinality == ComputedToMany
}

// Volatility of a function.
type Volatility byte

// The volatilities, as pg_proc.provolatile writes them.
const (
	Immutable Volatility = 'i'
	Stable    Volatility = 's'
	Volatile  Volatility = 'v'
)

// Param is an input parameter of a function.
type Param struct {
	Name     string
	Type     string
	CastType string // Type, without the length that a cast would truncate to
	Required bool
	Variadic bool
}

// Routine is a function that can be called.
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

// Scalar says whether one value that is no row is returned.
func (r *Routine) Scalar() bool { return !r.SetOf && !r.Composite }

// Void says whether nothing is returned.
func (r *Routine) Void() bool {
	return r.Scalar() && r.Return == Name{"pg_catalog", "void"}
}

// Handler is a function or aggregate that writes a media type.
type Handler struct {
	Function  Name
	MediaType string // the resolved type: */* is application/octet-stream
}

// HandlerKey says for what a handler is: a relation or function, or any (the zero Name), and which media type.
type HandlerKey struct {
	Target    Name
	MediaType string
}

// Cache is what was read. It is not changed after Load.
type Cache struct {
	Tables          map[Name]*Table
	Relationships   map[Name][]*Relationship // by starting table
	Routines        map[Name][]*Routine
	Representations map[[2]string]string // (source type, target type) → function, as regproc writes it
	Handlers        map[HandlerKey]Handler

	names hints
}

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
