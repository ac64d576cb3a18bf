// Package plan resolves a request against the schema: it turns the AST into trees whose relations, columns and types are
// known, or says why that cannot be. It opens no connection and writes no SQL.
//
// The engine calls it with what grammar parsed; sql renders what it returns.
package plan

import (
	"daawo/supabase/internal/rest/ast"
	"daawo/supabase/internal/rest/schema"
)

// Source is the name of the common table expression that a mutation or a call puts its rows into.
const Source = "pgrst_source"

// Field is a resolved column.
type Field struct {
	Name      string
	Path      []ast.JSONStep
	ToJSON    bool    // the path needs to_jsonb(column): the column is no JSON itself
	Type      string  // the type a value of the column is written in; "" when the column is unknown
	Base      string  // the type with domains resolved
	Transform string  // the function that represents the domain, as regproc writes it
	FullText  bool    // compared by full-text search: the column is made a tsvector
	Config    string  // its text search configuration
	Default   *string // the column's default, for missing=default
	WholeRow  bool    // count() over a spread relation counts rows of the relation
}

// SelectField is one selected column.
type SelectField struct {
	Field
	Cast          string
	Aggregate     ast.Aggregate
	AggregateCast string
	Alias         string
}

// Cond is a condition: a tree of and/or, a filter, or a test whether an embedded relation is empty.
type Cond struct {
	Not      bool
	Or       bool
	Children []Cond
	Filter   *Filter
	Absent   *Node // is.null on an embedded relation; Not turns it around
}

// Filter is a resolved filter.
type Filter struct {
	ast.Filter
	Field Field
}

// Order is a resolved order term. With Embed it orders by a column of that to-one relation.
type Order struct {
	Field     Field
	Embed     string
	Direction ast.Direction
	Nulls     ast.Nulls
}

// Spread says how a relation's columns are lifted into its parent.
type Spread uint8

// The spreads: of a to-one relation the columns, of a to-many relation arrays of them.
const (
	NoSpread Spread = iota
	SpreadOne
	SpreadMany
)

// Node is a relation that is read, with what is embedded in it.
type Node struct {
	Name  string // as the request names it
	Alias string // as the request renames it
	Hint  string
	Join  ast.JoinType

	From   schema.Name          // where the rows come from
	As     string               // alias in SQL; "" refers to From
	Rel    *schema.Relationship // how it hangs on its parent; nil at the root
	Parent string               // the parent's alias in SQL, for computed relationships; "" refers to Rel.Table
	Embed  string               // alias in SQL of the embedded rows

	Select []SelectField
	Where  []Cond
	Order  []Order
	Range  ast.Range

	Spread      Spread
	SpreadExtra []SpreadExtra // of a to-many spread: what its order needs selected
	Lifted      []Lifted      // of a spread: what the parent selects from it

	Children []*Node
	depth    int
	legacy   bool // named by a filter by its relation although it has an alias
}

// Key is the name of the node in its parent's reply.
func (n *Node) Key() string {
	if n.Alias != "" {
		return n.Alias
	}
	return n.Name
}

// Lifted is a column that a parent takes from a spread relation.
type Lifted struct {
	Name          string // its name in the embedded rows
	Aggregate     ast.Aggregate
	AggregateCast string
	Alias         string
}

// SpreadExtra is a column selected inside a to-many spread so that the aggregated arrays can be ordered by it.
type SpreadExtra struct {
	Embed string // the column's relation, when it is a related order term
	SelectField
}

// Hidden says whether nothing of the node is shown: rel().
func (n *Node) Hidden() bool {
	if len(n.Select) > 0 {
		return false
	}
	for _, c := range n.Children {
		if !c.Hidden() {
			return false
		}
	}
	return true
}

// DefaultSelect says whether the request selects nothing but *.
func (n *Node) DefaultSelect() bool {
	return len(n.Children) == 0 && len(n.Select) == 1 && n.Select[0].Name == "*"
}

// Action is what a request does.
type Action uint8

// The actions.
const (
	Read Action = iota
	Insert
	Update
	Upsert // PUT
	Delete
	Call
)

// Options are the settings that planning depends on.
type Options struct {
	MaxRows           *int64
	Aggregates        bool
	LegacyTargetNames bool
}

// Request is what is planned.
type Request struct {
	Action      Action
	Method      string
	Target      schema.Name
	Query       *ast.Query
	Range       ast.Range // the root's, with the Range header applied
	Prefs       ast.Preferences
	ContentType ast.MediaType
	Body        []byte      // JSON, or the raw body of a function with one unnamed parameter
	HasBody     bool        // a body is given, even an empty one
	Keys        []string    // the keys of the body or columns=, sorted
	Args        []ast.Param // arguments of a call by GET or form
}

// Mutation is a resolved insert, update or delete.
type Mutation struct {
	Action     Action
	Table      schema.Name
	Columns    []Field
	Body       []byte
	Defaults   bool     // missing=default
	Resolution string   // merge-duplicates, ignore-duplicates; "" when there is no on conflict
	Conflict   []string // the columns of on conflict
	Where      []Cond
	Returning  []string // nil returns nothing
	Key        []string // the table's primary key
}

// Invocation is a resolved call.
type Invocation struct {
	Routine   *schema.Routine
	Whole     *schema.Param // the single unnamed parameter that takes the body
	Params    []schema.Param
	Body      []byte // JSON for Params, the value for Whole; nil is null
	Args      map[string]Arg
	Returning []string // columns the reading part needs
}

// Arg is an argument given as text.
type Arg struct {
	Value  string
	Values []string // of a variadic parameter
}

// Plan is a planned request.
type Plan struct {
	Read     *Node
	Mutation *Mutation
	Call     *Invocation
	Legacy   [][2]string // relation name and the alias to use instead, where the old name was used
}
