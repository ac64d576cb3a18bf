// Package plan resolves a request against the schema: it converts the AST to trees with known
// relations, columns and types, or returns an error. It opens no connection and writes no SQL.
//
// The engine calls it with the result of grammar; sql renders the plan.
package plan

import (
	"daawo/supabase/internal/engine/rest/ast"
	"daawo/supabase/internal/engine/rest/schema"
)

// Source is the name of the common table expression with the rows of a mutation or a call.
const Source = "pgrst_source"

// Field is a resolved column.
type Field struct {
	Name      string
	Path      []ast.JSONStep
	ToJSON    bool    // the path needs to_jsonb(column), because the column is not JSON
	Type      string  // the type of the column's values in the request; "" when the column is unknown
	Base      string  // the type with domains resolved
	Transform string  // the function that represents the domain, in the format of regproc
	FullText  bool    // full-text search has to convert the column to a tsvector
	Config    string  // the text search configuration of FullText
	Default   *string // the column's default, for missing=default
	WholeRow  bool    // count() over a spread relation, which counts its rows
}

// SelectField is one selected column.
type SelectField struct {
	Field
	Cast          string
	Aggregate     ast.Aggregate
	AggregateCast string
	Alias         string
}

// Cond is a condition: a tree of and/or, a filter, or a test for an empty embedded relation.
type Cond struct {
	Not      bool
	Or       bool
	Children []Cond
	Filter   *Filter
	Absent   *Node // is.null on an embedded relation; Not negates it
}

// Filter is a resolved filter.
type Filter struct {
	ast.Filter
	Field Field
}

// Order is a resolved order term. With Embed it orders by a column of this to-one relation.
type Order struct {
	Field     Field
	Embed     string
	Direction ast.Direction
	Nulls     ast.Nulls
}

// Spread is how the columns of a relation become columns of its parent.
type Spread uint8

// The spreads. SpreadOne yields the columns of a to-one relation, SpreadMany an array per column of
// a to-many relation.
const (
	NoSpread Spread = iota
	SpreadOne
	SpreadMany
)

// Node is a relation to read, with its embedded relations.
type Node struct {
	Name  string // the name in the request
	Alias string // the alias in the request; "" is none
	Hint  string
	Join  ast.JoinType

	From   schema.Name          // the relation in SQL
	As     string               // its alias in SQL; "" is none
	Rel    *schema.Relationship // the relationship with the parent; nil at the root
	Parent string               // the parent's alias in SQL, for computed relationships; "" refers to Rel.Table
	Embed  string               // the alias in SQL of the embedded rows

	Select []SelectField
	Where  []Cond
	Order  []Order
	Range  ast.Range

	Spread      Spread
	SpreadExtra []SpreadExtra // of a to-many spread: the columns that its order needs
	Lifted      []Lifted      // of a spread: the columns that the parent selects from it

	Children []*Node
	depth    int
	legacy   bool // a filter uses the relation's name although it has an alias
}

// Key returns the name of the node in its parent's reply.
func (n *Node) Key() string {
	if n.Alias != "" {
		return n.Alias
	}
	return n.Name
}

// Lifted is a column that a parent takes from a spread relation.
type Lifted struct {
	Name          string // the name in the embedded rows
	Aggregate     ast.Aggregate
	AggregateCast string
	Alias         string
}

// SpreadExtra is a column that a to-many spread selects to order the aggregated arrays by it.
type SpreadExtra struct {
	Embed string // the column's relation, for a related order term
	SelectField
}

// Hidden reports whether the node selects nothing, as rel() does.
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

// DefaultSelect reports whether the request selects only *.
func (n *Node) DefaultSelect() bool {
	return len(n.Children) == 0 && len(n.Select) == 1 && n.Select[0].Name == "*"
}

// Action is the operation of a request.
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

// Options are the settings of the planner.
type Options struct {
	MaxRows           *int64
	Aggregates        bool
	LegacyTargetNames bool
}

// Request is a parsed request, the input of the planner.
type Request struct {
	Action      Action
	Method      string
	Target      schema.Name
	Query       *ast.Query
	Range       ast.Range // the range of the root, with the Range header applied
	Prefs       ast.Preferences
	ContentType ast.MediaType
	Body        []byte      // JSON, or the raw body of a function with one unnamed parameter
	HasBody     bool        // there is a body, perhaps an empty one
	Keys        []string    // the keys of the body or of columns=, sorted
	Args        []ast.Param // the arguments of a call by GET or form
}

// Mutation is a resolved insert, update or delete.
type Mutation struct {
	Action     Action
	Table      schema.Name
	Columns    []Field
	Body       []byte
	Defaults   bool     // missing=default
	Resolution string   // merge-duplicates, ignore-duplicates; "" for no on conflict clause
	Conflict   []string // the columns of on conflict
	Where      []Cond
	Returning  []string // nil returns nothing
	Key        []string // the table's primary key
}

// Invocation is a resolved call.
type Invocation struct {
	Routine   *schema.Routine
	Whole     *schema.Param // the single unnamed parameter that takes the body; nil for named parameters
	Params    []schema.Param
	Body      []byte // the JSON for Params or the value for Whole; nil is null
	Args      map[string]Arg
	Returning []string // the columns that the reading part needs
}

// Arg is an argument as text.
type Arg struct {
	Value  ast.Value
	Values []ast.Value // the values of a variadic parameter
}

// Plan is a planned request.
type Plan struct {
	Read     *Node
	Mutation *Mutation
	Call     *Invocation
	Legacy   [][2]string // pairs of a relation name in a filter and the alias to use instead
}
