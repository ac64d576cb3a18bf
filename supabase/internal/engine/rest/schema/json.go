package schema

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
)

// MarshalJSON returns the whole cache, for operators. The format may change.
func (c *Cache) MarshalJSON() ([]byte, error) {
	byName := func(a, b Name) int { return cmp.Or(cmp.Compare(a.Schema, b.Schema), cmp.Compare(a.Name, b.Name)) }
	type entry struct {
		Name  string
		Value any
	}
	var tables, relationships, routines, representations, handlers []entry
	for _, n := range slices.SortedFunc(maps.Keys(c.Tables), byName) {
		tables = append(tables, entry{n.String(), c.Tables[n]})
	}
	for _, n := range slices.SortedFunc(maps.Keys(c.Relationships), byName) {
		relationships = append(relationships, entry{n.String(), c.Relationships[n]})
	}
	for _, n := range slices.SortedFunc(maps.Keys(c.Routines), byName) {
		routines = append(routines, entry{n.String(), c.Routines[n]})
	}
	for k, fn := range c.Representations {
		representations = append(representations, entry{k[0] + " as " + k[1], fn})
	}
	for k, h := range c.Handlers {
		handlers = append(handlers, entry{k.Target.String() + " as " + k.MediaType, h})
	}
	for _, list := range [][]entry{representations, handlers} {
		slices.SortFunc(list, func(a, b entry) int { return cmp.Compare(a.Name, b.Name) })
	}
	return json.Marshal(map[string]any{"dbTables": tables, "dbRelationships": relationships, "dbRoutines": routines,
		"dbRepresentations": representations, "dbMediaHandlers": handlers})
}
