package rest

import (
	"bytes"
	"errors"

	"github.com/jackc/pgx/v5/pgconn"

	"daawo/supabase/internal/engine/rest/schema"
)

// errNotColumns: a column's value cannot be converted to JSON here. Postgres has to convert the
// rows.
var errNotColumns = errors.New("rest: the rows have a column that only Postgres can convert to JSON")

// conversion is how the text of a value becomes JSON, as in Postgres' datum_to_json.
type conversion uint8

const (
	inQuotes     conversion = iota // a JSON string
	asIs                           // json and jsonb
	asNumber                       // numbers; NaN and infinities become strings
	asBool                         // t and f
	asDate                         // date: the ISO format without a time
	asTimestamp                    // timestamp: T between date and time
	asTimestampZ                   // timestamptz: also minutes in the offset
	asJSONB                        // json that has to read as jsonb
)

// conversions are the built-in types by OID. A type that is absent here and in
// schema.Cache.TextTypes is left to Postgres: arrays, rows, and types with a cast to json.
var conversions = map[uint32]conversion{
	16: asBool,
	20: asNumber, 21: asNumber, 23: asNumber, 700: asNumber, 701: asNumber, 1700: asNumber, // integers, floats, numeric
	114: asIs, 3802: asIs, // json, jsonb
	1082: asDate, 1114: asTimestamp, 1184: asTimestampZ,

	17: inQuotes, 18: inQuotes, 19: inQuotes, 25: inQuotes, 705: inQuotes, // bytea, "char", name, text, unknown
	1042: inQuotes, 1043: inQuotes, 142: inQuotes, 2950: inQuotes, // char, varchar, xml, uuid
	// oid, tid, xid, cid, xid8, pg_lsn
	26: inQuotes, 27: inQuotes, 28: inQuotes, 29: inQuotes, 5069: inQuotes, 3220: inQuotes,
	// the types of references:
	24: inQuotes, 2202: inQuotes, 2203: inQuotes, 2204: inQuotes, 2205: inQuotes, 2206: inQuotes,
	3734: inQuotes, 3769: inQuotes, 4089: inQuotes, 4096: inQuotes, 4191: inQuotes, // regproc to regcollation
	1083: inQuotes, 1266: inQuotes, 1186: inQuotes, 790: inQuotes, // time, timetz, interval, money
	1560: inQuotes, 1562: inQuotes, // bit, varbit
	600: inQuotes, 601: inQuotes, 602: inQuotes, 603: inQuotes, 604: inQuotes, 628: inQuotes, 718: inQuotes, // geometry
	650: inQuotes, 774: inQuotes, 829: inQuotes, 869: inQuotes, // cidr, macaddr8, macaddr, inet
	3614: inQuotes, 3615: inQuotes, 4072: inQuotes, // tsvector, tsquery, jsonpath
	3904: inQuotes, 3906: inQuotes, 3908: inQuotes, 3910: inQuotes, 3912: inQuotes, 3926: inQuotes, // ranges
	4451: inQuotes, 4532: inQuotes, 4533: inQuotes, 4534: inQuotes, 4535: inQuotes, 4536: inQuotes, // multiranges
}

// column is one column of a result.
type column struct {
	key []byte // the text before its value: ,"name":
	conversion
}

// columnsOf returns the columns of a result, or errNotColumns. The last ones are embedded
// relations, see sql.Columns.
func columnsOf(fields []pgconn.FieldDescription, embedded int, cache *schema.Cache) ([]column, error) {
	columns := make([]column, len(fields))
	for i, f := range fields {
		c, ok := conversions[f.DataTypeOID]
		if i >= len(fields)-embedded {
			c, ok = asJSONB, cache.UTF8 // in other encodings Postgres rejects characters, and orders keys differently
		}
		if !ok && !cache.TextTypes[f.DataTypeOID] {
			return nil, errNotColumns
		}
		key := make([]byte, 0, len(f.Name)+4)
		key = append(key, ',')
		key = append(appendQuoted(key, []byte(f.Name)), ':')
		columns[i] = column{key, c}
	}
	return columns, nil
}

// appendRow appends a row as Postgres' row_to_json writes it.
func appendRow(dst []byte, columns []column, values [][]byte, p *jsonbPrinter) ([]byte, error) {
	if len(columns) == 0 {
		return append(dst, "{}"...), nil
	}
	begin := len(dst)
	for i, c := range columns {
		dst = append(dst, c.key...)
		if values[i] == nil {
			dst = append(dst, "null"...)
			continue
		}
		var ok bool
		if c.conversion == asJSONB {
			dst, ok = p.append(dst, values[i])
		} else {
			dst, ok = c.append(dst, values[i])
		}
		if !ok {
			return nil, errNotColumns
		}
	}
	dst[begin] = '{' // in place of the first comma
	return append(dst, '}'), nil
}

// append appends a value as JSON. It returns false for a date in another format than ISO, which the
// setting DateStyle causes.
func (c conversion) append(dst, value []byte) ([]byte, bool) {
	switch c {
	case asIs:
		return append(dst, value...), true
	case asNumber:
		if last := value[len(value)-1]; last >= '0' && last <= '9' {
			return append(dst, value...), true
		}
	case asBool:
		if value[0] == 't' {
			return append(dst, "true"...), true
		}
		return append(dst, "false"...), true
	case asDate, asTimestamp, asTimestampZ:
		return appendTime(dst, value, c)
	}
	return appendQuoted(dst, value), true
}

// appendTime appends a date or time. Its text in the ISO style differs from JSON's in two places: a
// space is between date and time, and an offset of whole hours has no minutes.
func appendTime(dst, value []byte, c conversion) ([]byte, bool) {
	if value[len(value)-1] == 'y' { // infinity, -infinity
		return appendQuoted(dst, value), true
	}
	year := bytes.IndexByte(value, '-')
	if year < 4 || len(value) < year+6 || value[year+3] != '-' {
		return nil, false
	}
	date, rest := value[:year+6], value[year+6:]
	dst = append(append(dst, '"'), date...)
	if c == asDate {
		return append(append(dst, rest...), '"'), true
	}
	if len(rest) < 9 || rest[0] != ' ' || rest[3] != ':' {
		return nil, false
	}
	dst = append(dst, 'T')
	rest, era := rest[1:], []byte(nil)
	if bytes.HasSuffix(rest, []byte(" BC")) {
		rest, era = rest[:len(rest)-3], rest[len(rest)-3:]
	}
	dst = append(dst, rest...)
	if c == asTimestampZ {
		sign := bytes.LastIndexAny(rest, "+-")
		if sign < 0 {
			return nil, false
		}
		if len(rest)-sign == 3 {
			dst = append(dst, ":00"...)
		}
	}
	return append(append(dst, era...), '"'), true
}

const hexDigits = "0123456789abcdef"

// appendQuoted appends a JSON string as Postgres' escape_json writes it.
func appendQuoted(dst, value []byte) []byte {
	dst = append(dst, '"')
	begin := 0
	for i, b := range value {
		if b >= ' ' && b != '"' && b != '\\' {
			continue
		}
		dst = append(dst, value[begin:i]...)
		begin = i + 1
		switch b {
		case '"', '\\':
			dst = append(dst, '\\', b)
		case '\b':
			dst = append(dst, `\b`...)
		case '\f':
			dst = append(dst, `\f`...)
		case '\n':
			dst = append(dst, `\n`...)
		case '\r':
			dst = append(dst, `\r`...)
		case '\t':
			dst = append(dst, `\t`...)
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[b>>4], hexDigits[b&15])
		}
	}
	return append(append(dst, value[begin:]...), '"')
}
