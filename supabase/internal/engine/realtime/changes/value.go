package changes

import (
	"encoding/json"
	"strings"
)

// Types of pg_type whose text form is converted to JSON without the help of the server.
const (
	oidBool        = 16
	oidBytea       = 17
	oidChar        = 18
	oidName        = 19
	oidInt8        = 20
	oidInt2        = 21
	oidInt4        = 23
	oidText        = 25
	oidTextArray   = 1009
	oidXIDArray    = 1011
	oidOID         = 26
	oidJSONB       = 3802
	oidFloat4      = 700
	oidFloat8      = 701
	oidBpchar      = 1042
	oidVarchar     = 1043
	oidDate        = 1082
	oidTime        = 1083
	oidTimestamp   = 1114
	oidTimestamptz = 1184
	oidNumeric     = 1700
	oidUUID        = 2950
)

// appendValue appends the JSON of a value of a type, as to_jsonb does, except bytes. It returns
// false, and dst unchanged, if only the server can convert the value.
func appendValue(dst []byte, oid uint32, text string) ([]byte, bool) {
	switch oid {
	case oidBool:
		if text == "t" {
			return append(dst, "true"...), true
		}
		return append(dst, "false"...), true
	case oidInt2, oidInt4, oidInt8, oidJSONB:
		return append(dst, text...), true
	case oidFloat4, oidFloat8, oidNumeric:
		if text == "NaN" || strings.HasSuffix(text, "Infinity") {
			return appendString(dst, text), true
		}
		return append(dst, text...), true
	case oidText, oidVarchar, oidBpchar, oidName, oidUUID, oidOID, oidChar, oidTime:
		return appendString(dst, text), true
	case oidBytea: // as upstream, whose log has the digits alone
		return appendString(dst, strings.TrimPrefix(text, `\x`)), true
	case oidDate:
		if len(text) == len("2006-01-02") {
			return appendString(dst, text), true
		}
	case oidTimestamp, oidTimestamptz:
		return appendTimestamp(dst, text, oid == oidTimestamptz)
	}
	return dst, false
}

// appendTimestamp appends "2006-01-02 15:04:05.9+00" in ISO 8601. Other forms, such as years before
// Christ, are left to the server.
func appendTimestamp(dst []byte, text string, zone bool) ([]byte, bool) {
	if len(text) < len("2006-01-02 15:04:05") || text[4] != '-' || text[10] != ' ' || strings.HasSuffix(text, "BC") {
		return dst, false
	}
	rest := text[11:]
	if zone {
		var ok bool
		if rest, ok = strings.CutSuffix(rest, "+00"); !ok {
			return dst, false
		}
		rest += "+00:00"
	}
	dst = append(dst, '"')
	dst = append(dst, text[:10]...)
	dst = append(dst, 'T')
	dst = append(dst, rest...)
	return append(dst, '"'), true
}

// appendString appends a JSON string.
func appendString(dst []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c == '"' || c == '\\' {
			quoted, _ := json.Marshal(text) // a string cannot fail
			return append(dst, unescapeHTML(quoted)...)
		}
	}
	dst = append(dst, '"')
	dst = append(dst, text...)
	return append(dst, '"')
}

// unescapeHTML undoes the escapes that encoding/json adds for HTML.
func unescapeHTML(quoted []byte) string {
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&", `\\`, `\\`).Replace(string(quoted))
}

// arrayLiteral returns an array of Postgres in its text form.
func arrayLiteral(values []string) string {
	var b strings.Builder
	b.WriteByte('{')
	for i, v := range values {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('"')
		for j := range len(v) {
			if v[j] == '"' || v[j] == '\\' {
				b.WriteByte('\\')
			}
			b.WriteByte(v[j])
		}
		b.WriteByte('"')
	}
	b.WriteByte('}')
	return b.String()
}

// nullableArray is arrayLiteral for values of which nil is null.
func nullableArray(values []*string) string {
	parts := make([]string, len(values))
	for i, v := range values {
		parts[i] = "NULL"
		if v != nil {
			parts[i] = strings.Trim(arrayLiteral([]string{*v}), "{}")
		}
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// identifier returns a quoted SQL identifier.
func identifier(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
