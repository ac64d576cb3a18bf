package typegen

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"daawo/supabase/internal/database/catalog"
)

// Metadata describes the objects that the generators write types of.
type Metadata struct {
	Schemas           []Schema
	Tables            []Relation
	ForeignTables     []Relation
	Views             []Relation
	MaterializedViews []Relation
	Columns           []Column
	Relationships     []Relationship
	Functions         []Function
	Types             []Type
}

// Schema is a schema.
type Schema struct {
	Name string `json:"name"`
}

// Relation is a table, a view or another relation.
type Relation struct {
	ID     int64  `json:"id"`
	Schema string `json:"schema"`
	Name   string `json:"name"`
	// of a view
	TakesInsert    bool `json:"takes_insert"`
	TakesUpdate    bool `json:"takes_update"`
	TakesWholeRows bool `json:"takes_whole_rows"` // by an INSTEAD trigger or rule, so each column
}

// Column is a column of a relation.
type Column struct {
	TableID            int64   `json:"table_id"`
	Name               string  `json:"name"`
	DefaultValue       *string `json:"default_value"`
	Format             string  `json:"format"` // the name of its type
	TypeSchema         string  `json:"type_schema"`
	IsIdentity         bool    `json:"is_identity"`
	IdentityGeneration *string `json:"identity_generation"`
	IsGenerated        bool    `json:"is_generated"`
	IsNullable         bool    `json:"is_nullable"`
	IsUpdatable        bool    `json:"is_updatable"`
}

// Argument is a parameter of a function, or a column of its result.
type Argument struct {
	Mode       string `json:"mode"`
	Name       string `json:"name"`
	TypeID     int64  `json:"type_id"`
	HasDefault bool   `json:"has_default"`
}

// Function is a function.
type Function struct {
	Schema           string     `json:"schema"`
	Name             string     `json:"name"`
	Args             []Argument `json:"args"`
	ArgumentTypes    string     `json:"argument_types"`
	ReturnTypeID     int64      `json:"return_type_id"`
	ReturnType       string     `json:"return_type"`
	ReturnRelationID int64      `json:"return_type_relation_id"`
	ReturnsSet       bool       `json:"is_set_returning_function"`
	Rows             float64    `json:"prorows"`
}

// Type is a type.
type Type struct {
	ID         int64    `json:"id"`
	Name       string   `json:"name"`
	Schema     string   `json:"schema"`
	Format     string   `json:"format"`
	Enums      []string `json:"enums"`
	Attributes []struct {
		Name   string `json:"name"`
		TypeID int64  `json:"type_id"`
	} `json:"attributes"`
	RelationID int64 `json:"type_relation_id"`
}

// ReadMetadata reads the objects of the given schemas, or of all except some.
func ReadMetadata(ctx context.Context, r catalog.Reader, included, excluded []string) (*Metadata, error) {
	f := catalog.Filter{Schemas: included, Except: excluded, Generator: true}
	every := catalog.Filter{System: true, TableTypes: true, ArrayTypes: true}
	lists, err := catalog.Read(ctx, r, catalog.Schemas(f), catalog.Tables(f), catalog.ForeignTables(f),
		catalog.Views(f), catalog.MaterializedViews(f), catalog.Columns(f), catalog.Functions(f), catalog.Types(every),
		catalog.ForeignKeys(f), catalog.ViewQueries(f))
	if err != nil {
		return nil, fmt.Errorf("types: %w", err)
	}
	var m Metadata
	var keys []foreignKeyRow
	var views []viewRow
	for i, into := range []any{&m.Schemas, &m.Tables, &m.ForeignTables, &m.Views, &m.MaterializedViews, &m.Columns,
		&m.Functions, &m.Types, &keys, &views} {
		if err := json.Unmarshal(lists[i], into); err != nil {
			return nil, fmt.Errorf("types: %w", err)
		}
	}
	m.Schemas = slices.DeleteFunc(m.Schemas, func(s Schema) bool { return slices.Contains(excluded, s.Name) })
	m.Functions = slices.DeleteFunc(m.Functions,
		func(f Function) bool { return f.ReturnType == "trigger" || f.ReturnType == "event_trigger" })
	m.sort()
	m.Relationships = relationships(keys, views)
	return &m, nil
}

// sort orders the objects by schema and name, as postgres-meta does before it writes.
func (m *Metadata) sort() {
	byPlace := func(aSchema, aName, bSchema, bName string) int {
		return cmp.Or(compareNames(aSchema, bSchema), compareNames(aName, bName))
	}
	slices.SortFunc(m.Schemas, func(a, b Schema) int { return compareNames(a.Name, b.Name) })
	for _, relations := range [][]Relation{m.Tables, m.ForeignTables, m.Views, m.MaterializedViews} {
		slices.SortFunc(relations, func(a, b Relation) int { return byPlace(a.Schema, a.Name, b.Schema, b.Name) })
	}
	slices.SortFunc(m.Types, func(a, b Type) int {
		return cmp.Or(byPlace(a.Schema, a.Name, b.Schema, b.Name), cmp.Compare(a.ID, b.ID))
	})
}

// has reports whether a schema is among those to write.
func (m *Metadata) has(schema string) bool {
	return slices.ContainsFunc(m.Schemas, func(s Schema) bool { return s.Name == schema })
}

// columnsOf returns the columns of each relation by name.
func (m *Metadata) columnsOf() map[int64][]Column {
	sorted := slices.Clone(m.Columns)
	slices.SortStableFunc(sorted, func(a, b Column) int { return compareNames(a.Name, b.Name) })
	byTable := map[int64][]Column{}
	for _, c := range sorted {
		byTable[c.TableID] = append(byTable[c.TableID], c)
	}
	return byTable
}

// sortedByName returns a copy of a list in the order of its names.
func sortedByName[T any](list []T, name func(T) string) []T {
	sorted := slices.Clone(list)
	slices.SortStableFunc(sorted, func(a, b T) int { return compareNames(name(a), name(b)) })
	return sorted
}

// collation is the order of the characters of ASCII in the Unicode Collation Algorithm (CLDR root).
const collation = " _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789abcdefghijklmnopqrstuvwxyz"

// compareNames orders names as String.localeCompare does: by letter, then lower case first.
func compareNames(a, b string) int {
	weight := func(r rune) int {
		if i := strings.IndexRune(collation, r); i >= 0 {
			return i
		}
		return len(collation) + int(r)
	}
	lower := func(s string) (weights []int) {
		for _, r := range strings.ToLower(s) {
			weights = append(weights, weight(r))
		}
		return weights
	}
	if c := slices.Compare(lower(a), lower(b)); c != 0 {
		return c
	}
	return -cmp.Compare(a, b) // in ASCII, capitals come first
}
