package rest

import (
	"encoding/json"
	"slices"
	"testing"

	"daawo/supabase/internal/engine/rest/ast"
	"daawo/supabase/internal/engine/rest/grammar"
	"daawo/supabase/internal/engine/rest/plan"
)

// FuzzJSONBody checks that no JSON body makes keyScanner panic, and that it returns the keys of the
// objects.
func FuzzJSONBody(f *testing.F) {
	for _, s := range []string{`{}`, `[]`, `[{"a":1},{"a":2}]`, `[{"a":[{"b":"}"}],"\u0062":"\\\""}]`,
		` [ { "x" : { } } , {"x":null}]`, `3`, `[[1]]`, `[{"a":1},2]`, `{"a":"\"","b":{"c":[1,2]}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		p, err := readPayload(body, ast.MediaType{Kind: ast.MediaJSON}, nil, plan.Insert)
		if err != nil || !json.Valid(body) {
			return
		}
		var one map[string]json.RawMessage
		if json.Unmarshal(body, &one) != nil || one == nil {
			return
		}
		for _, k := range p.keys {
			if _, ok := one[k]; !ok {
				t.Errorf("%q has no key %q", body, k)
			}
		}
		if !slices.IsSorted(p.keys) {
			t.Errorf("%q: keys %q are not sorted", body, p.keys)
		}
	})
}

// FuzzCSVAndForm checks that no CSV or form makes readPayload panic, and that the result is JSON.
func FuzzCSVAndForm(f *testing.F) {
	f.Add([]byte("a,b\n1,\"x,y\"\n"), true)
	f.Add([]byte("a=1&b=%zz&a=+"), false)
	f.Fuzz(func(t *testing.T, body []byte, csv bool) {
		kind := "application/x-www-form-urlencoded"
		if csv {
			kind = "text/csv"
		}
		p, err := readPayload(body, grammar.MediaType(kind), nil, plan.Insert)
		if err == nil && !json.Valid(p.body) {
			t.Errorf("%q: invalid JSON %q", body, p.body)
		}
	})
}
