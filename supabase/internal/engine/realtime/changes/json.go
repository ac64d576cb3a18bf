package changes

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// convertJSON lets the server convert the collected values to JSON.
func (b *batch) convertJSON(ctx context.Context) error {
	byType := map[uint32][]string{}
	for c := range b.jsonValues {
		byType[c.oid] = append(byType[c.oid], c.text)
	}
	for oid, texts := range byType {
		converted, err := b.toJSON(ctx, b.types[oid].name, texts)
		if err != nil {
			if !isQueryError(err) {
				return err
			}
			b.s.o.Log.Error("values were sent as text: the server could not convert them", "type", b.types[oid].name,
				"error", err)
		}
		for i, text := range texts {
			if err != nil {
				b.jsonValues[conversion{oid, text}] = string(appendString(nil, text))
			} else {
				b.jsonValues[conversion{oid, text}] = converted[i]
			}
		}
	}
	return nil
}

// toJSON returns to_jsonb of the text form of values of a type.
func (b *batch) toJSON(ctx context.Context, typeName string, texts []string) (out []string, err error) {
	if typeName == "" {
		typeName = "text" // dropped
	}
	sql := `select coalesce(to_jsonb(v::` + typeName +
		`)::text, 'null') from unnest($1::text[]) with ordinality u (v, n) order by n`
	err = b.s.o.Pool.Query(ctx, asInLog, sql, []any{texts}, func(rows pgx.Rows) (err error) {
		out, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	return out, err
}
