package changes

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/engine/realtime/changes/pgoutput"
)

// fillGenerated computes the stored generated columns, which pgoutput leaves out, and adds them to
// the rows. Expressions with functions, operators or types of users are not evaluated: they would
// run with the rights of the engine.
func (b *batch) fillGenerated(ctx context.Context) error {
	byRelation := map[*pgoutput.Relation][]*matchedChange{}
	for _, c := range b.matched {
		if t := b.tables[c.relation.ID]; t != nil && len(missingGenerated(t, c.relation)) > 0 {
			byRelation[c.relation] = append(byRelation[c.relation], c)
		}
	}
	for relation, changes := range byRelation {
		if err := b.fillGeneratedColumns(ctx, relation, missingGenerated(b.tables[relation.ID], relation),
			changes); err != nil {
			return err
		}
	}
	return nil
}

// missingGenerated returns the generated columns that the relation lacks. It returns none if the
// publication has a list of columns, which names no generated one.
func missingGenerated(t *table, relation *pgoutput.Relation) (columns []tableColumn) {
	if t.hasList(relation) {
		return nil
	}
	for _, column := range t.columns {
		if column.generated != "" && !hasColumn(relation, column.name) {
			columns = append(columns, column)
		}
	}
	return columns
}

// rowVersion is the old or the new row of a change.
type rowVersion struct {
	change *matchedChange
	old    bool
}

func (v rowVersion) tuple() pgoutput.Tuple {
	if v.old {
		return v.change.identity
	}
	return v.change.record
}

// has reports whether the row is there, and not only its key.
func (v rowVersion) has() bool {
	return v.tuple() != nil && (!v.old || v.change.old != nil && !v.change.oldKeyOnly)
}

// knows reports whether the value of a column is known.
func (v rowVersion) knows(relation *pgoutput.Relation, column string) bool {
	at := slices.IndexFunc(relation.Columns, func(c pgoutput.Column) bool { return c.Name == column })
	return at >= 0 && v.tuple()[at].Kind != pgoutput.Unchanged && (!v.old || v.change.known[at])
}

// generation is a number of rows of which the same generated columns can be computed.
type generation struct {
	columns  []int // indexes
	versions []rowVersion
}

// planGenerated divides the rows of changes by the generated columns that can be computed, because
// all values that the expressions read are known.
func planGenerated(relation *pgoutput.Relation, columns []tableColumn, changes []*matchedChange) []*generation {
	known := map[string]*generation{}
	var all []*generation
	for _, c := range changes {
		for _, old := range []bool{false, true} {
			v := rowVersion{c, old}
			if !v.has() {
				continue
			}
			var can []int
			for i, column := range columns {
				if !slices.ContainsFunc(column.reads, func(name string) bool { return !v.knows(relation, name) }) {
					can = append(can, i)
				}
			}
			key := fmt.Sprint(can)
			if known[key] == nil && len(can) > 0 {
				known[key] = &generation{columns: can}
				all = append(all, known[key])
			}
			if len(can) > 0 {
				known[key].versions = append(known[key].versions, v)
			}
		}
	}
	return all
}

// fillGeneratedColumns adds generated columns to the changes of a table.
func (b *batch) fillGeneratedColumns(ctx context.Context, relation *pgoutput.Relation, columns []tableColumn,
	changes []*matchedChange) error {
	plan := planGenerated(relation, columns, changes)
	values := make([][][]pgoutput.Value, len(plan))
	for i, g := range plan {
		asked := make([]tableColumn, len(g.columns))
		for j, at := range g.columns {
			asked[j] = columns[at]
		}
		var err error
		values[i], err = b.evaluateGenerated(ctx, relation, asked, g.versions)
		if err != nil && !isQueryError(err) {
			return err
		}
		if err != nil {
			b.s.warnOnce(relation.ID, "generated columns are left out: the server cannot compute them", "schema",
				relation.Schema, "table", relation.Table, "error", err)
		}
	}
	widenRows(relation, columns, changes)
	for i, g := range plan {
		for n, row := range values[i] {
			for j, column := range g.columns {
				g.versions[n].set(len(relation.Columns)+column, row[j])
			}
		}
	}
	return nil
}

// set sets a value of the row, which is known then.
func (v rowVersion) set(at int, value pgoutput.Value) {
	v.tuple()[at] = value
	if v.old {
		v.change.known[at] = true
	}
}

// widenRows adds columns with unknown values to the changes of a table.
func widenRows(relation *pgoutput.Relation, columns []tableColumn, changes []*matchedChange) {
	wider := *relation
	wider.Columns = slices.Clone(relation.Columns)
	for _, column := range columns {
		wider.Columns = append(wider.Columns, pgoutput.Column{Name: column.name, Type: column.oid, Modifier: -1})
	}
	for _, c := range changes {
		change := *c.rowChange
		change.relation = &wider
		c.rowChange = &change
		for range columns {
			if c.record != nil {
				c.record = append(slices.Clip(c.record), pgoutput.Value{Kind: pgoutput.Unchanged})
			}
			if c.identity != nil {
				c.identity = append(slices.Clip(c.identity), pgoutput.Value{Kind: pgoutput.Unchanged})
				c.known = append(c.known, false)
			}
		}
	}
}

// evaluateGenerated returns the values of the columns for each row. Types are given by their OIDs,
// so the engine's role needs no right to use their schemas.
func (b *batch) evaluateGenerated(ctx context.Context, relation *pgoutput.Relation, columns []tableColumn,
	versions []rowVersion) (values [][]pgoutput.Value, err error) {
	unit := pool.Unit{Caller: asInLog}
	names, typed := []string{"n"}, []string{`n as "position of the row"`}
	add := func(name, as string, array uint32, literal string) {
		unit.Args, unit.Types = append(unit.Args, []byte(literal)), append(unit.Types, array)
		names, typed = slices.Insert(names, len(names)-1, name), append(typed, as)
	}
	numbers := make([]string, len(versions))
	for i := range numbers {
		numbers[i] = strconv.Itoa(i)
	}
	add("p", "p", oidTextArray, arrayLiteral(numbers)) // so that there are rows if no column is read
	for i, column := range relation.Columns {
		if !slices.ContainsFunc(columns, func(c tableColumn) bool { return slices.Contains(c.reads, column.Name) }) {
			continue
		}
		texts := make([]*string, len(versions))
		for j, v := range versions {
			if value := v.tuple()[i]; value.Kind == pgoutput.Text {
				texts[j] = &value.Text
			}
		}
		name, array, info := fmt.Sprintf("c%d", i+1), b.types[column.Type].array, b.types[column.Type]
		as := name
		if array == 0 {
			array, as = oidTextArray, name+"::"+info.name
		}
		if info.name == "" {
			return nil, fmt.Errorf("the type of column %s was dropped", column.Name)
		}
		add(name, as+" as "+identifier(column.Name), array, nullableArray(texts))
	}
	var expressions []string
	for _, column := range columns {
		expressions = append(expressions, outputText("("+column.generated+")", column.oid))
	}
	parameters := make([]string, len(unit.Args))
	for i := range parameters {
		parameters[i] = "$" + strconv.Itoa(i+1)
	}
	unit.SQL = fmt.Sprintf(`select %s from (select %s from unnest(%s) with ordinality u (%s)) as row_
		order by "position of the row"`, strings.Join(expressions, ", "), strings.Join(typed, ", "),
		strings.Join(parameters, ", "), strings.Join(names, ", "))
	results, err := b.s.o.Pool.Units(ctx, []pool.Unit{unit})
	if err == nil {
		err = results[0].Err
	}
	if err != nil {
		return nil, err
	}
	for _, texts := range results[0].Rows {
		row := make([]pgoutput.Value, len(texts))
		for i, text := range texts {
			row[i] = pgoutput.Value{Kind: pgoutput.Null}
			if text != nil {
				row[i] = pgoutput.Value{Kind: pgoutput.Text, Text: *text}
			}
		}
		values = append(values, row)
	}
	if len(values) != len(versions) {
		err = fmt.Errorf("the server computed %d rows of %d", len(values), len(versions))
	}
	return values, err
}
