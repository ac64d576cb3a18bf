package storage

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/engine/storage/objects"
)

// maxJSON is the largest JSON body in bytes, as in storage-api.
const maxJSON = 1 << 20

// fields reads the members of a JSON object or of a query string as storage-api's schemas do: in
// the order of the schema, with its conversions between strings, numbers and booleans, and with its
// error messages. err is the first error; after it, all reads return zero values.
type fields struct {
	at  string // "body", "querystring", "body/sortBy"
	m   map[string]any
	err error
}

func (f *fields) fail(format string, args ...any) {
	if f.err == nil {
		f.err = invalid(fmt.Sprintf(format, args...))
	}
}

// invalid returns the error of a request that does not match the schema.
func invalid(message string) *apierror.Error {
	e := apierror.Errorf(400, "InvalidRequest", "%s", message)
	e.Details = objects.ErrorDetails{Error: "Error"}
	return e
}

// require fails if one of the members is missing.
func (f *fields) require(names ...string) *fields {
	for _, name := range names {
		if _, ok := f.m[name]; !ok {
			f.fail("%s must have required property '%s'", f.at, name)
		}
	}
	return f
}

// text reads a string; "" if the member is missing.
func (f *fields) text(name string, oneOf ...string) string {
	s, _ := f.textOr(name, oneOf...)
	return s
}

// textOr also reports whether the member is present.
func (f *fields) textOr(name string, oneOf ...string) (string, bool) {
	v, ok := f.m[name]
	if !ok || f.err != nil {
		return "", false
	}
	s, ok := asText(v)
	if !ok {
		f.fail("%s/%s must be string", f.at, name)
		return "", false
	}
	if len(oneOf) > 0 && !slices.Contains(oneOf, s) {
		f.fail("%s/%s must be equal to one of the allowed values", f.at, name)
	}
	return s, true
}

// integer returns nil if the member is missing.
func (f *fields) integer(name string, least, most int64) *int64 {
	v, ok := f.m[name]
	if !ok || f.err != nil {
		return nil
	}
	n, ok := asInteger(v)
	switch {
	case !ok:
		f.fail("%s/%s must be integer", f.at, name)
	case n < least:
		f.fail("%s/%s must be >= %d", f.at, name, least)
	case n > most:
		f.fail("%s/%s must be <= %d", f.at, name, most)
	}
	return &n
}

func (f *fields) number(name string) *float64 {
	v, ok := f.m[name]
	if !ok || f.err != nil {
		return nil
	}
	n, ok := asNumber(v)
	if !ok {
		f.fail("%s/%s must be number", f.at, name)
	}
	return &n
}

func (f *fields) boolean(name string) *bool {
	v, ok := f.m[name]
	if !ok || f.err != nil {
		return nil
	}
	b, ok := asBoolean(v)
	if !ok {
		f.fail("%s/%s must be boolean", f.at, name)
	}
	return &b
}

// texts reads a list of strings. If nullable, null is read as a nil list.
func (f *fields) texts(name string, nullable bool, least, most int) (list []string, set bool) {
	v, ok := f.m[name]
	if !ok || f.err != nil {
		return nil, false
	}
	if v == nil && nullable {
		return nil, true
	}
	items, ok := v.([]any)
	if !ok {
		if _, object := v.(map[string]any); object {
			f.fail("%s/%s must be array", f.at, name)
			return nil, false
		}
		items = []any{v}
	}
	if len(items) < least {
		f.fail("%s/%s must NOT have fewer than %d items", f.at, name, least)
	}
	if most > 0 && len(items) > most {
		f.fail("%s/%s must NOT have more than %d items", f.at, name, most)
	}
	list = make([]string, len(items))
	for i, item := range items {
		s, ok := asText(item)
		if !ok {
			f.fail("%s/%s/%d must be string", f.at, name, i)
			return nil, false
		}
		list[i] = s
	}
	return list, true
}

// object reads a member that is an object; nil if it is missing.
func (f *fields) object(name string) *fields {
	v, ok := f.m[name]
	if !ok || f.err != nil {
		return nil
	}
	m, ok := v.(map[string]any)
	if !ok {
		f.fail("%s/%s must be object", f.at, name)
		return nil
	}
	return &fields{at: f.at + "/" + name, m: m}
}

// adoptError copies the error of a nested object.
func (f *fields) adoptError(nested *fields) {
	if nested != nil && f.err == nil {
		f.err = nested.err
	}
}

func asText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case bool:
		return strconv.FormatBool(v), true
	case nil:
		return "", true
	case []any:
		if len(v) == 1 {
			return asText(v[0])
		}
	}
	return "", false
}

func asNumber(v any) (float64, bool) {
	switch v := v.(type) {
	case json.Number:
		n, err := v.Float64()
		return n, err == nil && !math.IsInf(n, 0)
	case string:
		n, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
		return n, err == nil && !math.IsInf(n, 0) && !math.IsNaN(n)
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	case nil:
		return 0, true
	case []any:
		if len(v) == 1 {
			return asNumber(v[0])
		}
	}
	return 0, false
}

func asInteger(v any) (int64, bool) {
	n, ok := asNumber(v)
	if !ok || n != math.Trunc(n) || math.Abs(n) > 1<<53 {
		return 0, false
	}
	return int64(n), true
}

func asBoolean(v any) (b, ok bool) {
	switch v := v.(type) {
	case bool:
		return v, true
	case nil:
		return false, true
	case string:
		return v == "true", v == "true" || v == "false"
	case json.Number:
		return v == "1", v == "0" || v == "1"
	case []any:
		if len(v) == 1 {
			return asBoolean(v[0])
		}
	}
	return false, false
}

var sizePattern = regexp.MustCompile(`^[0-9]+(?:\.[0-9]+)?(?:[gG][bB]|[mM][bB]|[kK][bB]|[bB])$`)

// body reads the JSON body, which must be an object.
func (c *call) body() (*fields, error) {
	v, err := c.json()
	if err != nil {
		return nil, err
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, invalid("body must be object")
	}
	return &fields{at: "body", m: m}, nil
}

func (c *call) json() (any, error) {
	kind, _, _ := mime.ParseMediaType(c.r.Header.Get("Content-Type"))
	if kind != "application/json" && !strings.HasSuffix(kind, "+json") {
		return nil, nil
	}
	data, err := io.ReadAll(http.MaxBytesReader(c.w, c.r.Body, maxJSON))
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return nil, fastify(413, "EntityTooLarge", "Request body is too large")
	}
	if err != nil {
		return nil, fastify(400, "InvalidRequest", "Request body size did not match Content-Length").WithCause(err)
	}
	if len(data) == 0 {
		return nil, fastify(400, "InvalidRequest",
			"Body cannot be empty when content-type is set to 'application/json'")
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil || d.More() {
		return nil, fastify(400, "InvalidRequest",
			"Body is not valid JSON but content-type is set to 'application/json'").WithCause(err)
	}
	return v, nil
}

// fastify returns an error of storage-api's HTTP framework, which uses the status for the reply
// too.
func fastify(status int, code, message string) *apierror.Error {
	e := apierror.Errorf(status, code, "%s", message)
	e.Details = objects.ErrorDetails{Error: "FastifyError", Reply: status}
	return e
}

// mediaType matches the type and subtype that storage-api's HTTP framework accepts in Content-Type.
var mediaType = regexp.MustCompile(`^\s*[\w!#$%&'*+.^|~\x60-]+/[\w!#$%&'*+.^|~\x60-]+\s*$`)

// validContentType reports whether a Content-Type has a type and a subtype. Parameters are not
// checked.
func validContentType(header string) bool {
	kind, _, _ := strings.Cut(header, ";")
	return mediaType.MatchString(kind)
}

func errContentType() *apierror.Error {
	e := apierror.Errorf(415, "InvalidMimeType", "Invalid Content-Type header")
	e.Details = objects.ErrorDetails{Error: "invalid_mime_type"}
	return e
}

// parseQuery parses a query string as storage-api does: only "&" separates, and an invalid encoding
// stays as it is.
func parseQuery(raw string) url.Values {
	values := url.Values{}
	for pair := range strings.SplitSeq(raw, "&") {
		if pair != "" {
			name, value, _ := strings.Cut(pair, "=")
			values.Add(decodeParameter(name), decodeParameter(value))
		}
	}
	return values
}

func decodeParameter(s string) string {
	s = strings.ReplaceAll(s, "+", " ")
	if d, err := url.PathUnescape(s); err == nil && utf8.ValidString(d) {
		return d
	}
	return s
}

// query returns the parameters of the query string.
func (c *call) query() *fields {
	m := map[string]any{}
	values := parseQuery(c.r.URL.RawQuery)
	for name, list := range values {
		if len(list) == 1 {
			m[name] = list[0]
			continue
		}
		items := make([]any, len(list))
		for i, v := range list {
			items[i] = v
		}
		m[name] = items
	}
	return &fields{at: "querystring", m: m}
}
