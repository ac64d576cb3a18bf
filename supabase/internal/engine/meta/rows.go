package meta

import (
	"bytes"
	"encoding/hex"
	"math"
	"regexp"
	"strconv"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// rows encodes the rows of a result as a JSON array of objects.
type rows struct {
	columns []column
	out     []byte
	n       int
}

// column is one member of the objects: the last column of its name.
type column struct {
	key    []byte // ,"name":
	index  int    // in the result
	encode encoder
}

// encoder appends the JSON of a value in text format.
type encoder func(out, value []byte) []byte

// newRows returns an encoder for a result. As in node-postgres, a repeated name has the place of
// its first column and the value of its last.
func newRows(fields []pgconn.FieldDescription) *rows {
	r := &rows{out: []byte{'['}}
	places := make(map[string]int, len(fields))
	for i, f := range fields {
		c := column{index: i, encode: encoders[f.DataTypeOID]}
		if c.encode == nil {
			c.encode = appendString
		}
		c.key = append(appendString([]byte{','}, []byte(f.Name)), ':')
		if place, ok := places[f.Name]; ok {
			r.columns[place] = c
			continue
		}
		places[f.Name] = len(r.columns)
		r.columns = append(r.columns, c)
	}
	return r
}

// add appends a row.
func (r *rows) add(values [][]byte) {
	if r.n > 0 {
		r.out = append(r.out, ',')
	}
	r.n++
	r.out = append(r.out, '{')
	for i, c := range r.columns {
		key := c.key
		if i == 0 {
			key = key[1:]
		}
		r.out = append(r.out, key...)
		if value := values[c.index]; value == nil {
			r.out = append(r.out, "null"...)
		} else {
			r.out = c.encode(r.out, value)
		}
	}
	r.out = append(r.out, '}')
}

// json returns the whole array.
func (r *rows) json() []byte { return append(r.out, ']') }

// encoders are the types that node-postgres does not leave as strings, with the exceptions that
// postgres-meta makes: dates, times and points stay strings, and a large int8 does too.
var encoders = map[uint32]encoder{
	pgtype.BoolOID: appendBool, pgtype.Int8OID: appendInt8,
	pgtype.Int2OID: appendRaw, pgtype.Int4OID: appendRaw, pgtype.OIDOID: appendRaw,
	pgtype.Float4OID: appendFloat, pgtype.Float8OID: appendFloat,
	pgtype.JSONOID: appendRaw, pgtype.JSONBOID: appendRaw,
	pgtype.ByteaOID: appendBytes, pgtype.CircleOID: appendCircle,

	pgtype.BoolArrayOID: arrayOf(appendBool), pgtype.ByteaArrayOID: arrayOf(appendBytes),
	pgtype.Int2ArrayOID: arrayOf(appendRaw), pgtype.Int4ArrayOID: arrayOf(appendRaw),
	pgtype.OIDArrayOID: arrayOf(appendRaw), pgtype.Int8ArrayOID: arrayOf(appendString),
	pgtype.Float4ArrayOID: arrayOf(appendFloat), pgtype.Float8ArrayOID: arrayOf(appendFloat),
	pgtype.NumericArrayOID: arrayOf(appendFloat),
	pgtype.JSONArrayOID:    arrayOf(appendRaw), pgtype.JSONBArrayOID: arrayOf(appendRaw),
	pgtype.IntervalArrayOID: arrayOf(appendInterval),

	pgtype.TextArrayOID: arrayOf(appendString), pgtype.VarcharArrayOID: arrayOf(appendString),
	pgtype.BPCharArrayOID: arrayOf(appendString), regprocArrayOID: arrayOf(appendString),
	pgtype.MacaddrArrayOID: arrayOf(appendString), pgtype.InetArrayOID: arrayOf(appendString),
	pgtype.CIDRArrayOID: arrayOf(appendString), pgtype.UUIDArrayOID: arrayOf(appendString),
	pgtype.TimestampArrayOID: arrayOf(appendString), pgtype.TimestamptzArrayOID: arrayOf(appendString),
	pgtype.DateArrayOID: arrayOf(appendString), pgtype.TimeArrayOID: arrayOf(appendString),
	pgtype.TimetzArrayOID: arrayOf(appendString), moneyArrayOID: arrayOf(appendString),
	pgtype.NumrangeArrayOID: arrayOf(appendString),
}

// OIDs of pg_type that pgtype has no name for.
const (
	regprocArrayOID = 1008
	moneyArrayOID   = 791
)

func appendRaw(out, value []byte) []byte { return append(out, value...) }

func appendBool(out, value []byte) []byte {
	return strconv.AppendBool(out, len(value) > 0 && value[0] == 't')
}

// maxSafe is the largest integer that a JavaScript number holds exactly.
const maxSafe = 1<<53 - 1

func appendInt8(out, value []byte) []byte {
	if n, err := strconv.ParseInt(string(value), 10, 64); err == nil && n >= -maxSafe && n <= maxSafe {
		return append(out, value...)
	}
	return appendString(out, value)
}

// appendFloat appends a number. JSON has none for NaN and the infinities, which JavaScript writes
// as null.
func appendFloat(out, value []byte) []byte {
	f, err := strconv.ParseFloat(string(value), 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return append(out, "null"...)
	}
	return append(out, value...)
}

// appendBytes appends a bytea as Node.js writes a Buffer.
func appendBytes(out, value []byte) []byte {
	data := unescapeBytea(value)
	out = append(out, `{"type":"Buffer","data":[`...)
	for i, b := range data {
		if i > 0 {
			out = append(out, ',')
		}
		out = strconv.AppendUint(out, uint64(b), 10)
	}
	return append(out, "]}"...)
}

// unescapeBytea decodes both forms of bytea_output.
func unescapeBytea(value []byte) []byte {
	if text, ok := bytes.CutPrefix(value, []byte(`\x`)); ok {
		data := make([]byte, hex.DecodedLen(len(text)))
		n, _ := hex.Decode(data, text) // Postgres writes whole bytes
		return data[:n]
	}
	var data []byte
	for i := 0; i < len(value); i++ {
		switch {
		case value[i] == '\\' && i+1 < len(value) && value[i+1] == '\\':
			i++
			data = append(data, '\\')
		case value[i] == '\\' && i+3 < len(value):
			data = append(data, (value[i+1]-'0')<<6|(value[i+2]-'0')<<3|(value[i+3]-'0'))
			i += 3
		default:
			data = append(data, value[i])
		}
	}
	return data
}

var circle = regexp.MustCompile(`^<\((.*),(.*)\),(.*)>$`)

func appendCircle(out, value []byte) []byte {
	m := circle.FindSubmatch(value)
	if m == nil {
		return append(out, "null"...)
	}
	out = appendFloat(append(out, `{"x":`...), m[1])
	out = appendFloat(append(out, `,"y":`...), m[2])
	out = appendFloat(append(out, `,"radius":`...), m[3])
	return append(out, '}')
}

var interval = regexp.MustCompile(`^(?:([+-]?\d+) years? ?)?(?:([+-]?\d+) mons? ?)?(?:([+-]?\d+) days? ?)?` +
	`(?:([+-]?)(\d+):(\d\d):(\d\d)(?:\.(\d+))?)?$`)

// appendInterval appends an interval that is the element of an array: an object of its units
// without those that are zero.
func appendInterval(out, value []byte) []byte {
	m := interval.FindSubmatch(value)
	if m == nil {
		return appendString(out, value)
	}
	out = append(out, '{')
	add := func(name string, digits []byte, sign string) {
		n, err := strconv.ParseFloat(string(digits), 64)
		if err != nil || n == 0 {
			return
		}
		if out[len(out)-1] != '{' {
			out = append(out, ',')
		}
		if sign == "-" {
			n = -n
		}
		out = append(append(append(out, '"'), name...), `":`...)
		out = strconv.AppendFloat(out, n, 'f', -1, 64)
	}
	add("years", m[1], "")
	add("months", m[2], "")
	add("days", m[3], "")
	sign := string(m[4])
	add("hours", m[5], sign)
	add("minutes", m[6], sign)
	add("seconds", m[7], sign)
	if len(m[8]) > 0 {
		micro := append(m[8], "000000"...)[:6]
		n, err := strconv.Atoi(string(micro))
		if err == nil {
			add("milliseconds", strconv.AppendFloat(nil, float64(n)/1000, 'f', -1, 64), sign)
		}
	}
	return append(out, '}')
}

const hexDigits = "0123456789abcdef"

// appendString appends a JSON string.
func appendString(out, value []byte) []byte {
	out = append(out, '"')
	start := 0
	for i := 0; i < len(value); {
		c := value[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRune(value[i:])
			if r == utf8.RuneError && size == 1 { // only in a database that is not UTF-8
				out = append(append(out, value[start:i]...), `\ufffd`...)
				start = i + 1
			}
			i += size
			continue
		}
		if c >= ' ' && c != '"' && c != '\\' {
			i++
			continue
		}
		out = append(out, value[start:i]...)
		switch c {
		case '"', '\\':
			out = append(out, '\\', c)
		case '\n':
			out = append(out, '\\', 'n')
		case '\r':
			out = append(out, '\\', 'r')
		case '\t':
			out = append(out, '\\', 't')
		default:
			out = append(out, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		i++
		start = i
	}
	return append(append(out, value[start:]...), '"')
}
