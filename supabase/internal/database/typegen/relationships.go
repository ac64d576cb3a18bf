package typegen

import (
	"slices"

	"daawo/supabase/internal/database/catalog"
)

// Relationship is a foreign key between two relations. A view has the keys of the tables whose
// columns it shows.
type Relationship struct {
	ForeignKeyName     string   `json:"foreign_key_name"`
	Schema             string   `json:"schema"`
	Relation           string   `json:"relation"`
	Columns            []string `json:"columns"`
	IsOneToOne         bool     `json:"is_one_to_one"`
	ReferencedSchema   string   `json:"referenced_schema"`
	ReferencedRelation string   `json:"referenced_relation"`
	ReferencedColumns  []string `json:"referenced_columns"`
}

type foreignKeyRow struct {
	Relationship
	RelationID        int64   `json:"relation_id"`
	Numbers           []int16 `json:"numbers"`
	ReferencedID      int64   `json:"referenced_id"`
	ReferencedNumbers []int16 `json:"referenced_numbers"`
}

type viewRow struct {
	ID      int64    `json:"id"`
	Schema  string   `json:"schema"`
	Name    string   `json:"name"`
	Query   string   `json:"query"`
	Columns []string `json:"columns"`
}

// shownView is a view and, for each column of a table, the view's columns that show it.
type shownView struct {
	schema, name string
	columns      map[catalog.Origin][]string
}

// relationships returns the foreign keys of tables and of the views that show their columns.
func relationships(keys []foreignKeyRow, rows []viewRow) []Relationship {
	views := shownViews(rows)
	var out []Relationship
	for _, k := range keys {
		out = append(out, k.Relationship)
	}
	for _, k := range keys {
		var sources, targets []Relationship
		for _, v := range views {
			for _, columns := range v.shows(k.RelationID, k.Numbers) {
				r := k.Relationship
				r.Schema, r.Relation, r.Columns = v.schema, v.name, columns
				sources = append(sources, r)
			}
			for _, columns := range v.shows(k.ReferencedID, k.ReferencedNumbers) {
				r := k.Relationship
				r.ReferencedSchema, r.ReferencedRelation, r.ReferencedColumns = v.schema, v.name, columns
				targets = append(targets, r)
			}
		}
		out = append(append(out, sources...), targets...)
		for _, s := range sources {
			for _, t := range targets {
				s.ReferencedSchema, s.ReferencedRelation = t.ReferencedSchema, t.ReferencedRelation
				s.ReferencedColumns = t.ReferencedColumns
				out = append(out, s)
			}
		}
	}
	return out
}

// shownViews follows the columns of each view down to the tables.
func shownViews(rows []viewRow) []shownView {
	origins := make(map[int64]map[int16]catalog.Origin, len(rows))
	for _, row := range rows {
		origins[row.ID] = catalog.Origins(row.Query)
	}
	var views []shownView
	for _, row := range rows {
		v := shownView{row.Schema, row.Name, map[catalog.Origin][]string{}}
		for i, name := range row.Columns {
			seen := map[int64]bool{row.ID: true}
			for at, ok := origins[row.ID][int16(i+1)]; ok && !seen[at.Relation]; at, ok = origins[at.Relation][at.Column] {
				seen[at.Relation] = true
				v.columns[at] = append(v.columns[at], name)
			}
		}
		views = append(views, v)
	}
	return views
}

// shows returns each list of the view's columns that shows all of a relation's columns.
func (v shownView) shows(relation int64, numbers []int16) [][]string {
	lists := [][]string{nil}
	for _, number := range numbers {
		var longer [][]string
		for _, list := range lists {
			for _, name := range v.columns[catalog.Origin{Relation: relation, Column: number}] {
				longer = append(longer, append(slices.Clone(list), name))
			}
		}
		lists = longer
	}
	return lists
}
