package changes

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseBinding(t *testing.T) {
	for text, want := range map[string]any{
		`{"event":"insert","schema":"public","table":"notes","filter":"id=eq.1"}`: Binding{Event: "INSERT",
			Schema: "public", Table: "notes", Filter: "id=eq.1"},
		`{"event":"nope","schema":"public"}`: Binding{Event: "*", Schema: "public",
			Table: "*"},
		`{"table":"notes","select":["id",1,"body"]}`: Binding{Event: "*", Schema: "public",
			Table: "notes", Select: []string{"id", "body"}},
		`{"event":"*","schema":"*","table":"*","select":[]}`: Binding{Event: "*", Schema: "*",
			Table: "*"},
		`{"table":"notes","select":[]}`: Binding{Event: "*", Schema: "public",
			Table: "notes", Select: []string{}},
		`"x"`:                         "No subscription params provided. Please provide at least a `schema` or `table` to subscribe to: \"x\"",
		`{}`:                          "No subscription params provided. Please provide at least a `schema` or `table` to subscribe to: %{}",
		`{"event":"*","filter":null}`: "No subscription params provided. Please provide at least a `schema` or `table` to subscribe to: %{\"event\" => \"*\", \"filter\" => nil}",
		`{"user_token":"secret"}`:     "No subscription params provided. Please provide at least a `schema` or `table` to subscribe to: <redacted>",
		`{"schema":"public","table":"notes","select":"id"}`:              "Error parsing `select` params: expected a list of column name strings, e.g. select: [\"col1\", \"col2\"]",
		`{"schema":"public","table":"*","select":["id"]}`:                "Column selection is not supported for wildcard subscriptions. Provide an explicit schema and table name.",
		`{"schema":"public","table":"notes","filter":"undefined"}`:       "Error parsing `filter` params: [\"undefined\"]",
		`{"schema":"public","table":"notes","filter":"subject=foo.hey"}`: "Error parsing `filter` params: [\"foo\", \"hey\"]",
		`{"schema":"public","table":"notes","filter":"id=eq.1,"}`:        "Error parsing `filter` params: filter must not contain empty segments (check for extra commas)",
		`{"schema":"public","table":"notes","filter":"id=in.1"}`:         "Error parsing `filter` params: `in` filter value must be wrapped by parentheses",
		`{"schema":"public","table":"notes","filter":"  "}`: Binding{Event: "*", Schema: "public",
			Table: "notes", Filter: "  "},
	} {
		var got any
		b, err := ParseBinding(0, json.RawMessage(text))
		if got = b; err != nil {
			got = err.Error()
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

func TestParseFilters(t *testing.T) {
	for text, want := range map[string][]filter{
		"id=eq.1":                           {{"id", "eq", "1", false}},
		" id=gt.0 , id=lt.100 ":             {{"id", "gt", "0", false}, {"id", "lt", "100", false}},
		"s=not.in.(a,b),t=is.null":          {{"s", "in", "{a,b}", true}, {"t", "is", "null", false}},
		`s=eq."a,b\"c",t=like.x%`:           {{"s", "eq", `a,b"c`, false}, {"t", "like", "x%", false}},
		`s=in.("a,(b",c)`:                   {{"s", "in", `{"a,(b",c}`, false}},
		"s=eq.a=b.c":                        {{"s", "eq", "a=b.c", false}},
		`s=eq."a"b`:                         {{"s", "eq", `"a"b`, false}},
		`s=eq.5" pipe,t=eq.1`:               {{"s", "eq", `5" pipe`, false}, {"t", "eq", "1", false}},
		"s=match.^(a|b)$,n=not.isdistinct.": {{"s", "match", "^(a|b)$", false}, {"n", "isdistinct", "", true}},
	} {
		got, err := parseFilters(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(filter{})); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

// FuzzFilters checks that no text makes the parser fail, and that conditions joined by commas are
// parsed as alone.
func FuzzFilters(f *testing.F) {
	for _, text := range []string{"id=eq.1", "a=not.in.(1,2)", `a=eq."x,\"y"`, "a=b", "=.", "a=in.()", "a=eq.\\",
		`a=eq."`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		filters, err := parseFilters(text)
		if err != nil {
			return
		}
		for _, condition := range filters {
			if len(condition.value) > len(text) || condition.op == "" {
				t.Fatalf("%q gives %v", text, condition)
			}
		}
		again, err := parseFilters("id=eq.1," + strings.TrimSpace(text))
		if len(filters) == 0 {
			return
		}
		if err != nil || len(again) != len(filters)+1 {
			t.Fatalf("%q: %v, with another condition %v (%v)", text, filters, again, err)
		}
		if diff := cmp.Diff(filters, again[1:], cmp.AllowUnexported(filter{})); diff != "" {
			t.Fatal(diff)
		}
	})
}

// filterSQL returns a filter as a condition of SQL.
func filterSQL(t *testing.T, text string) string {
	t.Helper()
	symbols := map[string]string{
		"eq": "=", "neq": "<>", "lt": "<", "lte": "<=", "gt": ">", "gte": ">=", "like": "like", "ilike": "ilike",
		"match": "~", "imatch": "~*", "isdistinct": "is distinct from",
	}
	parsed, err := parseFilters(text)
	if err != nil {
		t.Fatal(err)
	}
	conditions := []string{"true"}
	for _, p := range parsed {
		quoted := "'" + strings.ReplaceAll(p.value, "'", "''") + "'"
		sql := p.column + " " + symbols[p.op] + " " + quoted
		switch p.op {
		case "in":
			sql = p.column + " = any (" + quoted + ")"
		case "is":
			sql = p.column + " is " + p.value
		}
		if p.negate {
			sql = "not (" + sql + ")"
		}
		conditions = append(conditions, sql)
	}
	return strings.Join(conditions, " and ")
}

// TestFiltersAgainstTheServer compares each operator, on many types and values, with the same
// condition in a SELECT.
func TestFiltersAgainstTheServer(t *testing.T) {
	d, s := open(t, nil)
	d.Exec(`create type mood as enum ('bad', 'ok', 'good'); create domain label as varchar(20);
		create table f (id int primary key, i int, b boolean, t text, u uuid, n numeric, d timestamptz, m mood,
			bc char(3), j jsonb, a int[], l label);
		alter publication supabase_realtime add table f`)
	filters := []string{
		"i=eq.+2", "i=neq.2", "i=gt.2", "i=gte. 2", "i=lt.3", "i=lte.3", "i=in.(1, 3,null)", "i=not.in.(1,null)",
		"i=not.in.(1,3)", "i=is.null", "i=not.is.null", "i=isdistinct.2", "i=not.isdistinct.2", "i=not.gt.2",
		"b=is.true", "b=not.is.true", "b=is.unknown", "b=eq.on", "b=neq.false", "b=not.is.false", "t=eq.a", "t=gt.a",
		"t=like.a%", "t=not.like.a%", "t=ilike.A_", "t=match.^A", "t=imatch.^A", "t=not.imatch.^A",
		"t=in.(a,B)", `t=eq."x,y"`, "t=isdistinct.a", "u=eq.{7F2F0DC9-8E3E-4D0E-9F3F-1A2B3C4D5E6F}", "n=eq.1.0",
		"n=in.(1,2.50)", "n=gt.1", "d=gt.2026-01-01", "d=eq.2026-01-01T02:00:00+02", "m=gt.bad", "m=eq.ok",
		"m=in.(ok,good)", "bc=eq.a", `j=eq.{"a": 1}`, `a=eq."{1,2}"`, "i=gt.0,t=like.a%", "i=gt.1,i=lt.3",
		"l=gt.a", "l=not.in.(a,b)",
	}
	boxes := make([]*inbox, len(filters))
	for i, text := range filters {
		boxes[i], _ = subscribe(t, s, "service_role", service, Binding{Table: "f", Filter: text})
	}
	d.Exec(`insert into f values
		(1, 1, true, 'a', '7f2f0dc9-8e3e-4d0e-9f3f-1a2b3c4d5e6f', 1.00, '2026-01-01', 'bad', 'a', '{"a":1}',
			'{1,2}', 'a'),
		(2, 2, false, 'ab', null, 2.5, '2026-01-02', 'ok', 'b', '{"a":2}', '{}', 'ab'),
		(3, 3, null, 'B', null, -1, '2025-01-02', 'good', 'abc', null, null, 'b'),
		(4, null, null, null, null, null, null, null, null, null, null, null),
		(5, 2, true, 'x,y', null, 1, null, null, null, null, null, null),
		(6, 4, true, 'A', null, 1, null, null, null, null, null, 'A')`)
	settle(t, d, s)
	conn := d.Conn("postgres")
	for i, text := range filters {
		var want []int
		if err := conn.QueryRow(context.Background(), `select array(select id from f where `+filterSQL(t, text)+
			` order by id)`).Scan(&want); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		got := []int{}
		for _, c := range boxes[i].take() {
			var data struct{ Record struct{ ID int } }
			if err := json.Unmarshal(c.Data, &data); err != nil {
				t.Fatal(err)
			}
			got = append(got, data.Record.ID)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: rows %v, a SELECT returns %v", text, got, want)
		}
	}
}
