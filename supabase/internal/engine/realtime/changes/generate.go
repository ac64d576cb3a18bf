package changes

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

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
// relation lacks other columns, too: then the publication has a list of columns, which names no
// generated one.
func missingGenerated(t *table, relation *pgoutput.Relation) (columns []tableColumn) {
	for _, column := range t.columns {
		switch has := slices.ContainsFunc(relation.Columns,
			func(c pgoutput.Column) bool { return c.Name == column.name }); {
		case has:
		case !column.computed:
			return nil
		case column.generated != "":
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

// complete reports whether all values of the row are known.
func (v rowVersion) complete() bool {
	row := v.tuple()
	return row != nil && !slices.ContainsFunc(row,
		func(value pgoutput.Value) bool { return value.Kind == pgoutput.Unchanged }) &&
		(!v.old || !slices.Contains(v.change.known, false))
}

// fillGeneratedColumns adds generated columns to the changes of a table.
func (b *batch) fillGeneratedColumns(ctx context.Context, relation *pgoutput.Relation, columns []tableColumn,
	changes []*matchedChange) error {
	var versions []rowVersion
	for _, c := range changes {
		for _, old := range []bool{false, true} {
			if v := (rowVersion{c, old}); v.complete() {
				versions = append(versions, v)
			}
		}
	}
	values, err := b.evaluateGenerated(ctx, relation, columns, versions)
	if err != nil {
		if !isQueryError(err) {
			return err
		}
		b.s.warnOnce(relation.ID, "generated columns are left out: the server cannot compute them", "schema",
			relation.Schema, "table", relation.Table, "error", err)
		return nil
	}
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
	for i, v := range versions {
		for j := range columns {
			at := len(relation.Columns) + j
			v.tuple()[at] = values[i][j]
			if v.old {
				v.change.known[at] = true
			}
		}
	}
	return nil
}

// evaluateGenerated returns the values of the columns for each row, and the names of their types.
func (b *batch) evaluateGenerated(ctx context.Context, relation *pgoutput.Relation, columns []tableColumn,
	versions []rowVersion) (values [][]pgoutput.Value, err error) {
	var arrays, names, typed, expressions []string
	args := make([]any, len(relation.Columns))
	for i, column := range relation.Columns {
		name := fmt.Sprintf("c%d", i+1)
		arrays, names = append(arrays, fmt.Sprintf("$%d::text[]", i+1)), append(names, name)
		typeName := b.types[column.Type].name
		if typeName == "" {
			return nil, fmt.Errorf("the type of column %s was dropped", column.Name)
		}
		typed = append(typed, name+"::"+typeName+" as "+identifier(column.Name))
		texts := make([]*string, len(versions))
		for j, v := range versions {
			if value := v.tuple()[i]; value.Kind == pgoutput.Text {
				texts[j] = &value.Text
			}
		}
		args[i] = texts
	}
	for _, column := range columns {
		expressions = append(expressions, outputText("("+column.generated+")", column.oid))
	}
	sql := fmt.Sprintf(`
		select array[%s]::text[]
		from (select n as "position of the row", %s from unnest(%s) with ordinality u (%s, n)) as row_
		order by "position of the row"`,
		strings.Join(expressions, ", "), strings.Join(typed, ", "), strings.Join(arrays, ", "),
		strings.Join(names, ", "))
	err = b.s.o.Pool.Query(ctx, asInLog, sql, args, func(rows pgx.Rows) error {
		found, err := pgx.CollectRows(rows, pgx.RowTo[[]*string])
		for _, texts := range found {
			row := make([]pgoutput.Value, len(texts))
			for i, text := range texts {
				row[i] = pgoutput.Value{Kind: pgoutput.Null}
				if text != nil {
					row[i] = pgoutput.Value{Kind: pgoutput.Text, Text: *text}
				}
			}
			values = append(values, row)
		}
		return err
	})
	if err == nil && len(values) != len(versions) {
		err = fmt.Errorf("the server computed %d rows of %d", len(values), len(versions))
	}
	return values, err
}
