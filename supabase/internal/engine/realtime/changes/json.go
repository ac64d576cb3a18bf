package changes

import (
	"context"

	"daawo/supabase/internal/database/pool"
)

// convertJSON lets the server convert the collected values to JSON: values of a type with arrays in
// one statement, others one by one. Types are given by their OIDs.
func (b *batch) convertJSON(ctx context.Context) error {
	byType := map[uint32][]string{}
	for c := range b.jsonValues {
		byType[c.oid] = append(byType[c.oid], c.text)
	}
	var units []pool.Unit
	var asked [][]conversion
	for oid, texts := range byType {
		info := b.types[oid]
		if info.array != 0 {
			units = append(units, pool.Unit{Caller: asInLog, SQL: `select to_jsonb(v)::text from unnest($1)
				with ordinality u (v, n) order by n`, Args: [][]byte{[]byte(arrayLiteral(texts))}, Types: []uint32{info.array}})
			asked = append(asked, conversions(oid, texts...))
			continue
		}
		for _, text := range texts {
			if info.base == 0 { // the type was dropped
				b.jsonValues[conversion{oid, text}] = string(appendString(nil, text))
				continue
			}
			units = append(units, pool.Unit{Caller: asInLog, SQL: `select to_jsonb($1)::text`, Args: [][]byte{[]byte(text)},
				Types: []uint32{info.base}})
			asked = append(asked, conversions(oid, text))
		}
	}
	if len(units) == 0 {
		return nil
	}
	results, err := b.s.o.Pool.Units(ctx, units)
	if err != nil {
		return err
	}
	for i, result := range results {
		if result.Err != nil && !isQueryError(result.Err) {
			return result.Err
		}
		if result.Err != nil {
			b.s.o.Log.Error("values were sent as text: the server could not convert them", "type",
				b.types[asked[i][0].oid].name, "error", result.Err)
		}
		for j, c := range asked[i] {
			switch {
			case result.Err != nil:
				b.jsonValues[c] = string(appendString(nil, c.text))
			case result.Rows[j][0] == nil:
				b.jsonValues[c] = "null"
			default:
				b.jsonValues[c] = *result.Rows[j][0]
			}
		}
	}
	return nil
}

func conversions(oid uint32, texts ...string) []conversion {
	out := make([]conversion, len(texts))
	for i, text := range texts {
		out[i] = conversion{oid, text}
	}
	return out
}
