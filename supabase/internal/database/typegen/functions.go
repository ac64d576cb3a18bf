package typegen

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// openAPI is the part of an OpenAPI document that the client needs.
type openAPI struct {
	Paths      map[string]map[string]endpoint `json:"paths"`
	Components struct {
		Schemas map[string]*schema `json:"schemas"`
	} `json:"components"`
}

type endpoint struct {
	Body    *message           `json:"requestBody"`
	Replies map[string]message `json:"responses"`
}

type message struct {
	Content map[string]struct {
		Schema *schema `json:"schema"`
	} `json:"content"`
}

// json returns the schema of the JSON content, nil without one.
func (m *message) json() *schema {
	if m == nil {
		return nil
	}
	return m.Content["application/json"].Schema
}

// schema is a JSON Schema.
type schema struct {
	Ref         string             `json:"$ref"`
	Type        json.RawMessage    `json:"type"` // a string or a list
	Description string             `json:"description"`
	Enum        []any              `json:"enum"`
	Items       *schema            `json:"items"`
	Properties  map[string]*schema `json:"properties"`
	Required    []string           `json:"required"`
	Additional  json.RawMessage    `json:"additionalProperties"`
	AnyOf       []*schema          `json:"anyOf"`
}

// functionsHead is the part of the client that depends on no function.
const functionsHead = `// Written by ` + "`daawo gen types --functions`" + `; the functions are the source.

import type { SupabaseClient } from '@supabase/supabase-js';

/** The JSON of an error: a code for programs, a sentence for people, messages by field. */
export type FunctionError = { code: string; message: string; fields?: Record<string, string> };

type Untyped = SupabaseClient['functions'];
type Options = Omit<NonNullable<Parameters<Untyped['invoke']>[1]>, 'body' | 'method'>;
type Result<Reply> = { data: Reply; error: null; response?: Response } | { data: null; error: Error; response?: Response };

/** The functions of supabase-js with the types of each function's body and reply. */
export interface TypedFunctions {
  invoke<Name extends keyof Functions>(
    name: Name,
    ...options: Functions[Name]['Body'] extends undefined
      ? [options?: Options & { method?: Functions[Name]['Method']; body?: undefined }]
      : [options: Options & { method?: Functions[Name]['Method']; body: Functions[Name]['Body'] }]
  ): Promise<Result<Functions[Name]['Reply']>>;
}

/** Returns the functions of a client with their types: functionsOf(supabase).invoke('name', { body }). */
export const functionsOf = (client: { functions: Untyped }) => client.functions as unknown as TypedFunctions;
`

// Functions writes a typed client of the functions that an OpenAPI document describes. Only
// functions of edge.JSON have types.
func Functions(w io.Writer, document []byte) error {
	var d openAPI
	if err := json.Unmarshal(document, &d); err != nil {
		return fmt.Errorf("types of functions: %w", err)
	}
	var out functionsWriter
	out.WriteString(functionsHead)
	out.line("")
	out.line("export type Functions = {")
	for _, path := range slices.Sorted(maps.Keys(d.Paths)) {
		out.function(strings.TrimPrefix(path, "/"), d.Paths[path])
	}
	out.line("};")
	for _, name := range slices.Sorted(maps.Keys(d.Components.Schemas)) {
		if name == "Error" {
			continue
		}
		out.line("")
		out.line("export type %s = %s;", typeName(name), out.text(d.Components.Schemas[name]))
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// functionsWriter writes lines with their indentation.
type functionsWriter struct {
	strings.Builder
	depth int
}

// line writes one line. An opening bracket at its end increases the indentation, a closing bracket
// at its start decreases it.
func (w *functionsWriter) line(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if strings.HasPrefix(text, "}") {
		w.depth--
	}
	w.WriteString(strings.Repeat("  ", w.depth) + text + "\n")
	if strings.HasSuffix(text, "{") {
		w.depth++
	}
}

// key returns a property name, quoted if necessary.
func key(name string) string {
	if identifier.MatchString(name) {
		return name
	}
	return literal(name)
}

// literal returns a string in single quotes. JSON's escapes are valid in TypeScript.
func literal(s string) string {
	var out strings.Builder
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // encoding a string to a Builder cannot fail
	double := strings.TrimSuffix(out.String(), "\n")
	return "'" + strings.ReplaceAll(strings.ReplaceAll(double[1:len(double)-1], `\"`, `"`), "'", `\'`) + "'"
}

// function writes the types of one function, from its first method with types.
func (w *functionsWriter) function(name string, methods map[string]endpoint) {
	for _, method := range []string{"post", "put", "patch", "delete", "get"} {
		op, ok := methods[method]
		if !ok {
			continue
		}
		reply, known := "undefined", false
		for status, m := range op.Replies {
			if !strings.HasPrefix(status, "2") {
				continue
			}
			known = known || status == "204"
			if s := m.json(); s != nil {
				reply, known = w.text(s), true
			}
		}
		if !known {
			continue
		}
		body := "undefined"
		if s := op.Body.json(); s != nil {
			body = w.text(s)
		}
		w.line("%s: { Method: %s; Body: %s; Reply: %s };", key(name), literal(strings.ToUpper(method)), body, reply)
		return
	}
}

// typeName returns the name of the type of a component.
func typeName(component string) string { return strings.ReplaceAll(component, ".", "_") }

// text returns the TypeScript type of a schema. Objects have one line per property.
func (w *functionsWriter) text(s *schema) string {
	switch {
	case s.Ref != "":
		return typeName(s.Ref[strings.LastIndex(s.Ref, "/")+1:])
	case len(s.AnyOf) > 0:
		parts := make([]string, len(s.AnyOf))
		for i, part := range s.AnyOf {
			parts[i] = w.text(part)
		}
		return strings.Join(parts, " | ")
	case len(s.Enum) > 0:
		parts := make([]string, len(s.Enum))
		for i, value := range s.Enum {
			parts[i] = "null"
			if text, ok := value.(string); ok {
				parts[i] = literal(text)
			}
		}
		return strings.Join(parts, " | ")
	}
	var names []string
	var one string
	if json.Unmarshal(s.Type, &one) == nil {
		names = []string{one}
	} else if json.Unmarshal(s.Type, &names) != nil {
		return "unknown"
	}
	parts := make([]string, len(names))
	for i, name := range names {
		parts[i] = w.simple(name, s)
	}
	return strings.Join(parts, " | ")
}

// simple returns the TypeScript type of one of the types of a schema.
func (w *functionsWriter) simple(name string, s *schema) string {
	switch name {
	case "string", "boolean", "null":
		return name
	case "integer", "number":
		return "number"
	case "array":
		item := w.text(s.Items)
		if strings.ContainsAny(item, " ") {
			item = "(" + item + ")"
		}
		return item + "[]"
	case "object":
		return w.record(s)
	}
	return "unknown"
}

func (w *functionsWriter) record(s *schema) string {
	if s.Properties == nil {
		var values schema
		if json.Unmarshal(s.Additional, &values) != nil {
			return "Record<string, unknown>"
		}
		return "Record<string, " + w.text(&values) + ">"
	}
	var b strings.Builder
	b.WriteString("{\n")
	w.depth++
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		property := s.Properties[name]
		indent := strings.Repeat("  ", w.depth)
		if property.Description != "" {
			b.WriteString(indent + "/** " + strings.ReplaceAll(property.Description, "*/", "*\\/") + " */\n")
		}
		mark := "?"
		if slices.Contains(s.Required, name) {
			mark = ""
		}
		b.WriteString(indent + key(name) + mark + ": " + w.text(property) + ";\n")
	}
	w.depth--
	return b.String() + strings.Repeat("  ", w.depth) + "}"
}
