package extension_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"daawo/supabase/internal/database/testdb"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
)

func TestJSONSchema(t *testing.T) {
	d := testdb.New(t)
	d.Exec(`create extension pg_jsonschema with schema extensions;
		create table customers (id int, data json, check (extensions.json_matches_schema(
			'{"type": "object", "required": ["tags"], "properties": {"tags": {"items": {"maxLength": 3}}}}', data)));
		insert into customers values (1, '{"tags": ["vip"]}'), (2, null)`)
	fails := refused(t, d.Conn("postgres"))
	fails(`insert into customers values (1, '{"tags": ["long"]}')`, "violates check constraint")
	fails(`insert into customers values (1, '{}')`, "violates check constraint")
	for _, c := range []struct {
		schema, instance string
		want             []string
	}{
		{`{"maxLength": 4}`, `"123456789"`, []string{`"123456789" is longer than 4 characters`}},
		{`{"type": ["string", "null"], "minimum": 4}`, `3`,
			[]string{`3 is not of types "string", "null"`, `3 is less than the minimum of 4`}},
		{`{"properties": {"a": {"const": 1}}, "required": ["b"], "additionalProperties": false}`, `{"a": 2, "c": 1}`,
			[]string{`"b" is a required property`, `1 was expected`,
				`Additional properties are not allowed ('c' was unexpected)`}},
		{`{"$defs": {"n": {"type": "integer"}}, "items": {"$ref": "#/$defs/n"}}`, `[1, 2.0, 2.5]`,
			[]string{`2.5 is not of type "integer"`}},
		{`{"$schema": "http://json-schema.org/draft-07/schema#", "format": "date-time"}`, `"2026-02-30T10:00:00Z"`,
			[]string{`"2026-02-30T10:00:00Z" is not a "date-time"`}},
		{`{"properties": {"a": {}}, "unevaluatedProperties": false}`, `{"a": 1}`, []string{}},
		{`{"not": {"type": "null"}}`, `1`, []string{}},
	} {
		got := testdb.Value[[]string](d,
			`select extensions.jsonschema_validation_errors($1::text::json, $2::text::json)`, c.schema, c.instance)
		if !cmp.Equal(got, c.want) {
			t.Errorf("%s, %s: %q, want %q", c.schema, c.instance, got, c.want)
		}
		matches := testdb.Value[bool](d,
			`select extensions.jsonb_matches_schema($1::text::json, $2::text::jsonb)`, c.schema, c.instance)
		if matches != (len(c.want) == 0) {
			t.Errorf("%s, %s: matches %v", c.schema, c.instance, matches)
		}
	}
	for schema, want := range map[string]bool{
		`{"type": "object", "properties": {"a": {"minLength": 1}}}`: true, `false`: true, `{"type": "text"}`: false,
		`{"properties": {"a": {"minLength": -1}}}`: false, `{"pattern": "("}`: false, `[]`: false,
	} {
		if got := testdb.Value[bool](d, `select extensions.jsonschema_is_valid($1::text::json)`, schema); got != want {
			t.Errorf("%s is valid: %v", schema, got)
		}
	}
	fails(`select extensions.json_matches_schema('{"$ref": "https://example.org/other.json"}', '1')`, "has no")
}

// suiteLeavesOut has words of the suite's tests of what is left out: other documents, vocabularies,
// characters that jsonb cannot have, and what Postgres' regular expressions lack.
var suiteLeavesOut = []string{
	"localhost:1234", "remote ref", "metaschema", "$vocabulary", "nul characters", "Unicode property escape",
}

// TestJSONSchemaSuite runs a draft's folder of the public JSON-Schema-Test-Suite.
func TestJSONSchemaSuite(t *testing.T) {
	suite := os.Getenv("JSON_SCHEMA_SUITE")
	if suite == "" {
		t.Skip("needs JSON_SCHEMA_SUITE, the folder tests of github.com/json-schema-org/JSON-Schema-Test-Suite")
	}
	d := testdb.New(t)
	d.Exec(`create extension pg_jsonschema with schema extensions`)
	conn := d.Conn("postgres")
	for draft, uri := range map[string]string{
		"draft4": "http://json-schema.org/draft-04/schema#", "draft6": "http://json-schema.org/draft-06/schema#",
		"draft7": "http://json-schema.org/draft-07/schema#", "draft2019-09": "", "draft2020-12": "",
	} {
		files, err := filepath.Glob(filepath.Join(suite, draft, "*.json"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s has no files of %s: %v", suite, draft, err)
		}
		t.Run(draft, func(t *testing.T) {
			passed, failed := 0, 0
			for _, file := range files {
				p, f := runSuite(t, conn, file, uri)
				passed, failed = passed+p, failed+f
			}
			t.Logf("%d passed, %d failed", passed, failed)
		})
	}
}

// runSuite runs a file of the suite. uri is the draft of its schemas that name none.
func runSuite(t *testing.T, conn *pgx.Conn, file, uri string) (passed, failed int) {
	t.Helper()
	name := strings.TrimSuffix(filepath.Base(file), ".json")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var groups []struct {
		Description string
		Schema      json.RawMessage
		Tests       []struct {
			Description string
			Data        json.RawMessage
			Valid       bool
		}
	}
	if err := json.Unmarshal(text, &groups); err != nil {
		t.Fatal(err)
	}
	for _, g := range groups {
		if slices.ContainsFunc(suiteLeavesOut, func(words string) bool {
			return name == "refRemote" || strings.Contains(g.Description+string(g.Schema), words)
		}) {
			continue
		}
		schema := string(g.Schema)
		if uri != "" && strings.HasPrefix(schema, "{") && !strings.Contains(schema, `"$schema"`) {
			schema = strings.Replace(`{"$schema":"`+uri+`",`+schema[1:], ",}", "}", 1)
		}
		for _, c := range g.Tests {
			var got bool
			err := conn.QueryRow(t.Context(), `select extensions.jsonb_matches_schema($1::text::json, $2::text::jsonb)`,
				schema, string(c.Data)).Scan(&got)
			if err == nil && got == c.Valid {
				passed++
				continue
			}
			failed++
			t.Errorf("%s: %s: %s: %v, %v", name, g.Description, c.Description, got, err)
		}
	}
	return passed, failed
}
