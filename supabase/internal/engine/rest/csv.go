package rest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"

	"daawo/supabase/internal/base/apierror"
)

// csvPayload converts CSV with a header line into an array of objects of strings; NULL is null.
func csvPayload(body []byte) (payload, *apierror.Error) {
	if !utf8.Valid(body) {
		return payload{}, badBody("parse error: the text is not UTF-8")
	}
	r := csvReader{rest: body, line: 1}
	header, ok := r.record()
	switch {
	case r.err != nil:
		return payload{}, r.err
	case !ok || !r.ended: // the line must end
		return payload{}, badBody(`parse error (not enough input) at ""`)
	}
	var objects []map[string]*string
	for {
		record, ok := r.record()
		if r.err != nil {
			return payload{}, r.err
		}
		if !ok {
			break
		}
		if len(record) != len(header) {
			return payload{}, badBody("All lines must have same number of fields")
		}
		o := make(map[string]*string, len(header))
		for i, name := range header {
			if record[i] == "NULL" {
				o[name] = nil
			} else {
				o[name] = &record[i]
			}
		}
		objects = append(objects, o)
	}
	if len(objects) == 0 {
		return payload{body: []byte("[]")}, nil
	}
	out, err := json.Marshal(objects)
	if err != nil {
		return payload{}, badBody(err.Error())
	}
	return payload{body: out, keys: slices.Compact(slices.Sorted(slices.Values(header)))}, nil
}

// csvReader reads CSV (RFC 4180) as PostgREST does: a line ends with LF, CR LF or CR, and empty
// lines are skipped. Unlike encoding/csv it keeps each byte of a quoted field.
type csvReader struct {
	rest  []byte
	line  int
	ended bool // the last record had an end of line
	err   *apierror.Error
}

// record returns the fields of the next line, and false at the end and on an error.
func (r *csvReader) record() (fields []string, ok bool) {
	for r.endOfLine() {
	}
	for len(r.rest) > 0 {
		fields = append(fields, r.field())
		if r.ended = r.endOfLine(); r.err != nil || r.ended {
			break
		}
		if len(r.rest) == 0 {
			break
		}
		if r.rest[0] != ',' {
			r.err = badBody(fmt.Sprintf("parse error on line %d: quotes must enclose a whole field", r.line))
			break
		}
		if r.rest = r.rest[1:]; len(r.rest) == 0 {
			fields = append(fields, "")
		}
	}
	return fields, len(fields) > 0 && r.err == nil
}

// endOfLine skips the end of a line and reports whether there was one.
func (r *csvReader) endOfLine() bool {
	for _, end := range [...]string{"\n", "\r\n", "\r"} {
		if rest, ok := bytes.CutPrefix(r.rest, []byte(end)); ok {
			r.rest = rest
			r.line++
			return true
		}
	}
	return false
}

func (r *csvReader) field() string {
	if len(r.rest) == 0 || r.rest[0] != '"' {
		n := bytes.IndexAny(r.rest, ",\"\r\n")
		if n < 0 {
			n = len(r.rest)
		}
		text := string(r.rest[:n])
		r.rest = r.rest[n:]
		return text
	}
	var text []byte
	for rest := r.rest[1:]; ; {
		n := bytes.IndexByte(rest, '"')
		if n < 0 {
			r.err = badBody(fmt.Sprintf("parse error on line %d: a quoted field has no end", r.line))
			return ""
		}
		text = append(text, rest[:n]...)
		if rest = rest[n+1:]; len(rest) == 0 || rest[0] != '"' {
			r.line += bytes.Count(text, []byte("\n"))
			r.rest = rest
			return string(text)
		}
		text, rest = append(text, '"'), rest[1:]
	}
}
