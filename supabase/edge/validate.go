package edge

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/mail"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
)

// rules are the rules of the tag validate of one field.
type rules struct {
	required bool
	min, max *float64
	oneof    []string
	format   string
	pattern  *regexp.Regexp
}

// formats maps the names of formats to the end of the message "must be …" and the check.
var formats = map[string]struct {
	what  string
	check func(string) bool
}{
	"email": {"an email address", isEmail},
	"uuid":  {"a UUID", func(s string) bool { _, err := uuid.Parse(s); return err == nil }},
	"uri": {"a URL", func(s string) bool {
		u, err := url.Parse(s)
		return err == nil && u.Scheme != "" &&
			u.Host != ""
	}},
	"date": {"a date such as 2026-08-31",
		func(s string) bool { _, err := time.Parse(time.DateOnly, s); return err == nil }},
	"date-time": {"a time such as 2026-08-31T10:00:00Z",
		func(s string) bool { _, err := time.Parse(time.RFC3339, s); return err == nil }},
}

func isEmail(s string) bool {
	a, err := mail.ParseAddress(s)
	return err == nil && a.Address == s && len(s) <= 254
}

// parseRules reads a tag.
func parseRules(tag string, t reflect.Type) (r rules, err error) {
	t = elem(t)
	for tag != "" {
		var rule string
		if rest, ok := strings.CutPrefix(tag, "pattern="); ok { // may contain commas
			rule, tag = "pattern="+rest, ""
		} else {
			rule, tag, _ = strings.Cut(tag, ",")
		}
		name, value, _ := strings.Cut(rule, "=")
		switch name {
		case "required":
			r.required = true
		case "min":
			r.min, err = number(value, t)
		case "max":
			r.max, err = number(value, t)
		case "oneof":
			r.oneof = strings.Fields(value)
			err = needs(t, len(r.oneof) > 0, reflect.String)
		case "format":
			r.format = value
			_, known := formats[value]
			err = needs(t, known, reflect.String)
		case "pattern":
			if err = needs(t, true, reflect.String); err == nil {
				r.pattern, err = regexp.Compile(value)
			}
		default:
			err = errors.New("unknown rule")
		}
		if err != nil {
			return r, fmt.Errorf("validate:%q: %w", rule, err)
		}
	}
	return r, nil
}

func needs(t reflect.Type, valid bool, kinds ...reflect.Kind) error {
	if !valid {
		return errors.New("unknown value")
	}
	if !slices.Contains(kinds, t.Kind()) {
		return fmt.Errorf("does not apply to %s", t)
	}
	return nil
}

// number parses the value of min or max.
func number(text string, t reflect.Type) (*float64, error) {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, errors.New("is not a number")
	}
	if _, _, ok := measure(reflect.Zero(t)); !ok {
		return nil, fmt.Errorf("does not apply to %s", t)
	}
	return &n, nil
}

// measure returns what min and max compare for a value, and its unit, which is "" for a number.
func measure(v reflect.Value) (n float64, unit string, ok bool) {
	switch v.Kind() {
	case reflect.String:
		return float64(utf8.RuneCountInString(v.String())), "characters", true
	case reflect.Slice, reflect.Array, reflect.Map:
		return float64(v.Len()), "items", true
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return float64(v.Int()), "", true
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return float64(v.Uint()), "", true
	case reflect.Float32, reflect.Float64:
		return v.Float(), "", true
	}
	return 0, "", false
}

// message returns what is wrong with a value, "" for nothing. It follows the name of the field.
func (r rules) message(v reflect.Value) string {
	missing := v.IsZero()
	for v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	empty := v.Kind() == reflect.Pointer || v.Kind() == reflect.String && v.Len() == 0
	format := formats[r.format]
	switch {
	case (missing || empty) && r.required && r.format != "":
		return "must be " + format.what
	case (missing || empty) && r.required:
		return "is required"
	case empty:
		return ""
	case r.oneof != nil && !slices.Contains(r.oneof, v.String()):
		return "must be one of: " + strings.Join(r.oneof, ", ")
	case r.format != "" && !format.check(v.String()):
		return "must be " + format.what
	case r.pattern != nil && !r.pattern.MatchString(v.String()):
		return "must match " + r.pattern.String()
	}
	return r.size(v)
}

// size checks min and max.
func (r rules) size(v reflect.Value) string {
	n, unit, _ := measure(v)
	limit := func(words string, most float64) string {
		text := strconv.FormatFloat(most, 'f', -1, 64)
		if unit == "" {
			return "must be " + words + " " + text
		}
		return "must have " + words + " " + text + " " + unit
	}
	switch {
	case r.min != nil && n < *r.min:
		return limit("at least", *r.min)
	case r.max != nil && n > *r.max:
		return limit("at most", *r.max)
	}
	return ""
}

// describe adds the rules to the schema of a field.
func (r rules) describe(s *Schema, t reflect.Type) *Schema {
	if r.required && elem(t) == t && (t.Kind() == reflect.Slice || t.Kind() == reflect.Map) || r.required &&
		elem(t) != t {
		if names, ok := s.Type.([]string); ok {
			s.Type = names[0] // required excludes null
		}
	}
	whole := func(n *float64) *int {
		if n == nil {
			return nil
		}
		return new(int(*n))
	}
	switch elem(t).Kind() {
	case reflect.String:
		s.MinLength, s.MaxLength = whole(r.min), whole(r.max)
		if r.required && s.MinLength == nil {
			s.MinLength = new(1)
		}
	case reflect.Slice, reflect.Array:
		s.MinItems, s.MaxItems = whole(r.min), whole(r.max)
	case reflect.Map:
		s.MinProperties, s.MaxProperties = whole(r.min), whole(r.max)
	default:
		if r.min != nil {
			s.Minimum = r.min
		}
		s.Maximum = r.max
	}
	if r.format != "" {
		s.Format = r.format
	}
	if r.pattern != nil {
		s.Pattern = r.pattern.String()
	}
	for _, value := range r.oneof {
		s.Enum = append(s.Enum, value)
	}
	if _, null := s.Type.([]string); null && s.Enum != nil {
		s.Enum = append(s.Enum, nil)
	}
	return s
}

// checker checks values of one type. It is compiled once, because parsing the tags costs more than
// a call.
type checker struct {
	fields []checkedField
	elems  *checker // of the items of a slice, array or map
	own    bool     // the type has a method Validate
}

type checkedField struct {
	field
	inner *checker
}

// compile returns the checker of a type, nil if there is nothing to check.
func compile(t reflect.Type) (*checker, error) { return compileIn(t, map[reflect.Type]*checker{}) }

func compileIn(t reflect.Type, known map[reflect.Type]*checker) (*checker, error) {
	t = elem(t)
	if c, ok := known[t]; ok {
		return c, nil
	}
	c := &checker{own: reflect.PointerTo(t).Implements(reflect.TypeFor[interface{ Validate() error }]())}
	known[t] = c
	var err error
	switch t.Kind() {
	case reflect.Slice, reflect.Array, reflect.Map:
		if t != bytesType {
			c.elems, err = compileIn(t.Elem(), known)
		}
	case reflect.Struct:
		if t == timeType {
			break
		}
		for _, f := range fieldsOf(t) {
			if f.err != nil {
				return nil, fmt.Errorf("field %s: %w", f.name, f.err)
			}
			inner, err := compileIn(f.typ, known)
			if err != nil {
				return nil, fmt.Errorf("field %s: %w", f.name, err)
			}
			c.fields = append(c.fields, checkedField{f, inner})
		}
	}
	return c, err
}

// check returns an *Error that names all wrong fields of the value that a pointer leads to.
func (c *checker) check(pointer any) error {
	wrong := map[string]string{}
	if err := c.walk(reflect.ValueOf(pointer), "", wrong); err != nil {
		return err
	}
	if len(wrong) == 0 {
		return nil
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(wrong)) {
		all = append(all, name+" "+wrong[name])
	}
	return &Error{Status: http.StatusBadRequest, Code: "validation_failed", Message: strings.Join(all, "; ") + ".",
		Fields: wrong}
}

// walk collects the messages of wrong fields by their path, such as address.street or items[2].
func (c *checker) walk(v reflect.Value, path string, wrong map[string]string) error {
	for v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil
		}
		v = v.Elem()
	}
	for _, f := range c.fields {
		value, err := v.FieldByIndexErr(f.index)
		if err != nil {
			continue // in an embedded struct that is null
		}
		name := f.name
		if path != "" {
			name = path + "." + f.name
		}
		if message := f.rules.message(value); message != "" {
			wrong[name] = message
		} else if err := f.inner.walk(value, name, wrong); err != nil {
			return err
		}
	}
	if c.elems != nil && v.Kind() == reflect.Map {
		for iter := v.MapRange(); iter.Next(); {
			if err := c.elems.walk(addressable(iter.Value()), fmt.Sprintf("%s[%q]", path, iter.Key()),
				wrong); err != nil {
				return err
			}
		}
	} else if c.elems != nil {
		for i := range v.Len() {
			if err := c.elems.walk(v.Index(i), fmt.Sprintf("%s[%d]", path, i), wrong); err != nil {
				return err
			}
		}
	}
	if c.own && len(wrong) == 0 {
		return addressable(v).Addr().Interface().(interface{ Validate() error }).Validate()
	}
	return nil
}

// addressable returns v, or a copy of it whose address can be taken.
func addressable(v reflect.Value) reflect.Value {
	if v.CanAddr() {
		return v
	}
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	return c
}
