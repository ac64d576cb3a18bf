package rest

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/engine/rest/ast"
	"daawo/supabase/internal/engine/rest/grammar"
	"daawo/supabase/internal/engine/rest/plan"
)

// payload is a decoded request body.
type payload struct {
	body []byte      // JSON, or the raw body of a function with one unnamed parameter
	keys []string    // the keys of its objects, sorted
	args []ast.Param // the fields of a form that is sent to a function
}

func badBody(message string) *apierror.Error { return apierror.Errorf(400, "PGRST102", "%s", message) }

// readPayload checks a body by its content type. columns come from the URL's columns=, nil when it
// has none. With columns a JSON body is not parsed, because Postgres parses it.
func readPayload(body []byte, content ast.MediaType, columns []string, action plan.Action) (payload, *apierror.Error) {
	call := action == plan.Call
	switch {
	case content.Kind == ast.MediaJSON && columns != nil:
		return payload{body: body, keys: columns}, nil
	case content.Kind == ast.MediaJSON:
		if len(body) == 0 && call {
			body = []byte("{}")
		}
		if !utf8.Valid(body) || !json.Valid(body) {
			return payload{}, badBody("Empty or invalid json")
		}
		return jsonPayload(body)
	case content.Kind == ast.MediaCSV:
		return csvPayload(body)
	case content.Kind == ast.MediaForm:
		return formPayload(body, call)
	case call && (content.Kind == ast.MediaText || content.Kind == ast.MediaXML || content.Kind == ast.MediaBytes):
		return payload{body: body}, nil
	default:
		return payload{}, badBody("Content-Type not acceptable: " + content.Mime())
	}
}

// jsonPayload collects the keys of valid JSON: an object, or an array of objects that all have the
// same keys. Anything else counts as an empty array.
func jsonPayload(body []byte) (payload, *apierror.Error) {
	s := keyScanner{in: body}
	s.blank()
	switch s.peek() {
	case '{':
		return payload{body: body, keys: s.objectKeys()}, nil
	case '[':
	default:
		return payload{body: []byte("[]")}, nil
	}
	s.pos++
	var keys []string
	for first := true; ; first = false {
		s.blank()
		if s.peek() == ']' {
			if first {
				return payload{body: []byte("[]")}, nil
			}
			return payload{body: body, keys: keys}, nil
		}
		if s.peek() == ',' {
			s.pos++
			s.blank()
		}
		if s.peek() != '{' {
			return payload{}, badBody("All object keys must match")
		}
		k := s.objectKeys()
		if first {
			keys = k
		} else if !slices.Equal(keys, k) {
			return payload{}, badBody("All object keys must match")
		}
	}
}

// keyScanner reads the keys of JSON that is known to be valid.
type keyScanner struct {
	in  []byte
	pos int
}

func (s *keyScanner) peek() byte {
	if s.pos >= len(s.in) {
		return 0
	}
	return s.in[s.pos]
}

func (s *keyScanner) blank() {
	for s.pos < len(s.in) && bytes.IndexByte([]byte(" \t\r\n"), s.in[s.pos]) >= 0 {
		s.pos++
	}
}

// str skips a string and returns it with its quotes.
func (s *keyScanner) str() []byte {
	start := s.pos
	for s.pos++; s.in[s.pos] != '"'; s.pos++ {
		if s.in[s.pos] == '\\' {
			s.pos++
		}
	}
	s.pos++
	return s.in[start:s.pos]
}

// objectKeys skips an object and returns its keys, sorted and without duplicates.
func (s *keyScanner) objectKeys() []string {
	var keys []string
	for s.pos++; ; {
		s.blank()
		switch s.peek() {
		case '}':
			s.pos++
			slices.Sort(keys)
			return slices.Compact(keys)
		case ',':
			s.pos++
		default:
			keys = append(keys, unquote(s.str()))
			s.blank()
			s.pos++ // the colon
			s.value()
		}
	}
}

// value skips a value.
func (s *keyScanner) value() {
	s.blank()
	depth := 0
	for s.pos < len(s.in) {
		switch s.in[s.pos] {
		case '"':
			s.str()
			if depth == 0 {
				return
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return
			}
			if depth--; depth == 0 {
				s.pos++
				return
			}
		case ',':
			if depth == 0 {
				return
			}
		}
		s.pos++
	}
}

func unquote(quoted []byte) string {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1 : len(quoted)-1])
	}
	var out string
	_ = json.Unmarshal(quoted, &out) // cannot fail: quoted is part of valid JSON
	return out
}

// formPayload decodes a form: the arguments of a function, or one row of strings for a table.
func formPayload(body []byte, call bool) (payload, *apierror.Error) {
	var p payload
	row := map[string]string{}
	for part := range strings.SplitSeq(string(body), "&") {
		if part == "" {
			continue
		}
		k, v, _ := strings.Cut(part, "=")
		k, v = grammar.Decode(k), grammar.Decode(v)
		p.args = append(p.args, ast.Param{Name: k, Value: ast.Value{Text: v}})
		p.keys = append(p.keys, k)
		row[k] = v
	}
	slices.Sort(p.keys)
	p.keys = slices.Compact(p.keys)
	if !call {
		p.args = nil
		p.body, _ = json.Marshal(row) // a map of strings cannot fail
	} else if p.args == nil {
		p.args = []ast.Param{}
	}
	return p, nil
}
