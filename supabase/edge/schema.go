package edge

import (
	"cmp"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Schema is a JSON Schema (2020-12), the part of it that Go types need.
type Schema struct {
	Ref                  string             `json:"$ref,omitempty"`
	Type                 any                `json:"type,omitempty"` // a string, or []string with "null"
	Format               string             `json:"format,omitempty"`
	Description          string             `json:"description,omitempty"`
	Enum                 []any              `json:"enum,omitempty"`
	Pattern              string             `json:"pattern,omitempty"`
	MinLength            *int               `json:"minLength,omitempty"`
	MaxLength            *int               `json:"maxLength,omitempty"`
	MinItems             *int               `json:"minItems,omitempty"`
	MaxItems             *int               `json:"maxItems,omitempty"`
	MinProperties        *int               `json:"minProperties,omitempty"`
	MaxProperties        *int               `json:"maxProperties,omitempty"`
	Minimum              *float64           `json:"minimum,omitempty"`
	Maximum              *float64           `json:"maximum,omitempty"`
	ContentEncoding      string             `json:"contentEncoding,omitempty"`
	Items                *Schema            `json:"items,omitempty"`
	Properties           map[string]*Schema `json:"properties,omitempty"`
	Required             []string           `json:"required,omitempty"`
	AdditionalProperties any                `json:"additionalProperties,omitempty"` // false or *Schema
	AnyOf                []*Schema          `json:"anyOf,omitempty"`
}

// schemaBuilder makes the schemas of one endpoint.
type schemaBuilder struct {
	prefix string // of the names of parts
	suffix string // of the names of parts, because a request and a reply require different fields
	reply  bool
	parts  map[string]*Schema
	open   map[reflect.Type]bool // structs around the present type
	used   map[reflect.Type]bool // the types that a field inside refers to
}

var (
	jsonMarshaler = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
	timeType      = reflect.TypeFor[time.Time]()
	bytesType     = reflect.TypeFor[[]byte]()
)

// schema returns the schema of the JSON that encoding/json reads or writes for a type.
func (b *schemaBuilder) schema(t reflect.Type) (*Schema, error) {
	switch {
	case t.Kind() == reflect.Pointer:
		s, err := b.schema(t.Elem())
		return nullable(s), err
	case t == timeType:
		return &Schema{Type: "string", Format: "date-time"}, nil
	case t == bytesType:
		return &Schema{Type: "string", ContentEncoding: "base64"}, nil
	case t.Implements(jsonMarshaler) || reflect.PointerTo(t).Implements(jsonMarshaler):
		return &Schema{}, nil // any JSON
	case t.Implements(textMarshaler) || reflect.PointerTo(t).Implements(textMarshaler):
		if strings.HasSuffix(t.PkgPath(), "google/uuid") && t.Name() == "UUID" {
			return &Schema{Type: "string", Format: "uuid"}, nil
		}
		return &Schema{Type: "string"}, nil
	}
	switch t.Kind() {
	case reflect.Bool:
		return &Schema{Type: "boolean"}, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return &Schema{Type: "integer"}, nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return &Schema{Type: "integer", Minimum: new(float64)}, nil
	case reflect.Float32, reflect.Float64:
		return &Schema{Type: "number"}, nil
	case reflect.String:
		return &Schema{Type: "string"}, nil
	case reflect.Interface:
		return &Schema{}, nil
	case reflect.Slice, reflect.Array:
		items, err := b.schema(t.Elem())
		s := &Schema{Type: "array", Items: items}
		if t.Kind() == reflect.Slice { // a nil slice is null
			return nullable(s), err
		}
		return s, err
	case reflect.Map:
		values, err := b.schema(t.Elem())
		return nullable(&Schema{Type: "object", AdditionalProperties: values}), err
	case reflect.Struct:
		return b.object(t)
	}
	return nil, fmt.Errorf("JSON cannot hold a %s", t)
}

// nullable returns s or null.
func nullable(s *Schema) *Schema {
	switch {
	case s == nil:
		return nil
	case s.Ref != "":
		return &Schema{AnyOf: []*Schema{s, {Type: "null"}}}
	}
	if name, ok := s.Type.(string); ok {
		s.Type = []string{name, "null"}
	}
	return s
}

// object returns the schema of a struct. A struct that contains itself becomes a part.
func (b *schemaBuilder) object(t reflect.Type) (*Schema, error) {
	name := b.prefix + "." + cmp.Or(t.Name(), "Object") + b.suffix
	ref := &Schema{Ref: "#/components/schemas/" + name}
	if b.open[t] {
		b.used[t] = true
		return ref, nil
	}
	b.open[t] = true
	defer delete(b.open, t)
	s := &Schema{Type: "object", Properties: map[string]*Schema{}, AdditionalProperties: false}
	for _, f := range fieldsOf(t) {
		property, err := b.schema(f.typ)
		if err != nil {
			return nil, fmt.Errorf("field %s: %w", f.name, err)
		}
		if f.quoted {
			property = &Schema{Type: "string"}
		}
		if !b.reply {
			property = f.shown.describe(property, f.typ)
		} else if names, ok := property.Type.([]string); ok && f.omit {
			property.Type = names[0] // instead of null it is left out
		}
		if f.doc != "" {
			if property.Ref != "" {
				property = &Schema{AnyOf: []*Schema{property}}
			}
			property.Description = f.doc
		}
		s.Properties[f.name] = property
		if b.reply && !f.omit || !b.reply && f.shown.required {
			s.Required = append(s.Required, f.name)
		}
	}
	slices.Sort(s.Required)
	if !b.used[t] {
		return s, nil
	}
	delete(b.used, t)
	b.parts[name] = s
	return ref, nil
}

// field is a field of a struct as encoding/json sees it.
type field struct {
	name   string
	doc    string
	typ    reflect.Type
	index  []int
	omit   bool  // left out of replies when it is empty
	quoted bool  // a number in a string
	rules  rules // of the tag validate: they are checked
	shown  rules // of the tag schema, or else of validate: they are described
	err    error
}

// fieldsOf returns the fields of a struct and of its embedded structs. An outer field hides
// an inner one of its name.
func fieldsOf(t reflect.Type) []field {
	var fields []field
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" && options == "" || !f.IsExported() && !f.Anonymous {
			continue
		}
		if f.Anonymous && name == "" && elem(f.Type).Kind() == reflect.Struct {
			continue // its fields are visible themselves
		}
		if !f.IsExported() {
			continue
		}
		flags := strings.Split(options, ",")
		item := field{
			name: cmp.Or(name, f.Name), doc: f.Tag.Get("doc"), typ: f.Type, index: f.Index,
			omit:   slices.Contains(flags, "omitempty") || slices.Contains(flags, "omitzero"),
			quoted: slices.Contains(flags, "string"),
		}
		item.rules, item.err = parseRules(f.Tag.Get("validate"), f.Type)
		item.shown = item.rules
		if tag := f.Tag.Get("schema"); tag != "" && item.err == nil {
			item.shown, item.err = parseRules(tag, f.Type)
		}
		if at := slices.IndexFunc(fields, func(other field) bool { return other.name == item.name }); at < 0 {
			fields = append(fields, item)
		} else if len(item.index) < len(fields[at].index) {
			fields[at] = item
		}
	}
	return fields
}

// elem returns the type that pointers lead to.
func elem(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}
