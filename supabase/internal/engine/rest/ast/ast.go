// Package ast holds a parsed request to the REST engine as plain values: the selection, filters,
// order and ranges of the URL, and the preferences and media types of the headers. It is
// independent of the schema and of SQL.
//
// grammar makes the values and plan reads them; it imports nothing of ours.
package ast

// JSONStep is one arrow of a JSON path: data->key, data->0, data->>key.
type JSONStep struct {
	Key    string // the key, or the digits of the index with its sign ("+0", "-1")
	Index  bool   // Key is an array index
	AsText bool   // ->> rather than ->
}

// Field is a column, possibly with a path into its JSON.
type Field struct {
	Name string
	Path []JSONStep
}

// Aggregate is the name of an aggregate function; "" is none.
type Aggregate string

// The aggregate functions of the dialect.
const (
	Count Aggregate = "count"
	Sum   Aggregate = "sum"
	Avg   Aggregate = "avg"
	Min   Aggregate = "min"
	Max   Aggregate = "max"
)

// JoinType selects whether rows without embedded rows are kept.
type JoinType uint8

// The join types: LeftJoin keeps such a row, InnerJoin drops it.
const (
	LeftJoin JoinType = iota
	InnerJoin
)

// SelectItem is one entry of select=: a field, or an embedded relation with the entries below it.
type SelectItem struct {
	// A field, when Relation is "".
	Field         Field
	Cast          string
	Aggregate     Aggregate
	AggregateCast string

	// An embedded relation.
	Relation string
	Hint     string
	Join     JoinType
	Spread   bool
	Items    []SelectItem

	Alias string
}

// Quantifier is the "any" or "all" of a filter such as eq(any).{1,2}.
type Quantifier uint8

// The quantifiers.
const (
	NoQuantifier Quantifier = iota
	Any
	All
)

// Op is the operator of a filter as the URL has it: eq, like, cs, is, in, fts, …
type Op string

// Filter is one horizontal filter, such as id=not.eq.1.
type Filter struct {
	Field      Field
	Not        bool
	Op         Op
	Quantifier Quantifier
	Value      Value    // for is: null, not_null, true, false or unknown
	Values     []string // for in
	Config     string   // for the full-text operators: the text search configuration
}

// Logic is a tree of filters that are joined with and/or. A leaf has a Filter and no Children.
type Logic struct {
	Filter   *Filter
	Not      bool
	Or       bool
	Children []Logic
}

// Direction is the direction of an order term; the zero value is Postgres' default.
type Direction uint8

// The directions.
const (
	NoDirection Direction = iota
	Asc
	Desc
)

// Nulls is the position of nulls in an order term; the zero value is Postgres' default.
type Nulls uint8

// The positions of nulls.
const (
	NoNulls Nulls = iota
	NullsFirst
	NullsLast
)

// OrderTerm is one term of order=. With Relation it orders by a field of an embedded to-one
// relation.
type OrderTerm struct {
	Relation  string
	Field     Field
	Direction Direction
	Nulls     Nulls
}

// Path is the list of names in select= that leads to an embedded relation; an empty path is the
// root.
type Path []string

// At is a value that belongs to the relation at Path.
type At[T any] struct {
	Path  Path
	Value T
}

// Param is an argument of a function called with GET.
type Param struct {
	Name  string
	Value Value
}

// Value is text that becomes a parameter of the statement: Text, or a value of the request that is
// not part of the query's shape (see grammar.Shape).
type Value struct {
	Text string
	Slot int // the number of the request's value, from 1; 0 is Text
}

// In returns the text, given the values of the request.
func (v Value) In(values []string) string {
	if v.Slot == 0 {
		return v.Text
	}
	return values[v.Slot-1]
}

// Query is a parsed query string.
type Query struct {
	Select     []SelectItem
	Filters    []At[Filter]
	Logic      []At[Logic]
	Order      []At[[]OrderTerm]
	Ranges     []At[Range] // limits and offsets of embedded relations; Range is the root's
	Range      Range
	Huge       Huge     // numbers of limits and offsets that are too large
	Columns    []string // columns=, sorted and without duplicates; nil when absent
	OnConflict []string // on_conflict=; nil when absent
	Params     []Param  // arguments of a function called with GET: parameters that are not filters
	FilterKeys []string // the raw names of all filters, sorted and without duplicates
	Canonical  []Value  // the query with its parameters sorted, in parts, for Content-Location
}
