package grammar

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"daawo/supabase/internal/engine/rest/ast"
)

// TestErrors checks that an error names the position and the expected tokens.
func TestErrors(t *testing.T) {
	for query, want := range map[string][2]string{
		"a=noop.1": {`"failed to parse filter (noop.1)" (line 1, column 1)`,
			`unexpected "o" expecting "not" or operator (eq, gt, ...)`},
		"a=eq().1": {`"failed to parse filter (eq().1)" (line 1, column 4)`,
			`unexpected ")" expecting operator (eq, gt, ...)`},
		"a=is.nil": {`"failed to parse filter (is.nil)" (line 1, column 4)`,
			`unexpected "n" expecting isVal: (null, not_null, true, false, unknown)`},
		"a=in.1": {`"failed to parse filter (in.1)" (line 1, column 4)`,
			`unexpected "1" expecting "("`},
		"order=id.ac": {`"failed to parse order (id.ac)" (line 1, column 4)`,
			`unexpected "c" expecting "asc", "desc", "nullsfirst" or "nullslast"`},
		"order=id.descc": {`"failed to parse order (id.descc)" (line 1, column 8)`,
			`unexpected 'c' expecting delimiter (.), "," or end of input`},
		"select=id,rel(name[])": {`"failed to parse select parameter (id,rel(name[]))" (line 1, column 12)`,
			`unexpected '[' expecting letter, digit, "-", "->>", "->", "::", ".", ")", "," or end of input`},
		"select=name::": {`"failed to parse select parameter (name::)" (line 1, column 7)`,
			`unexpected end of input expecting letter or digit`},
		"select=data->>-7x": {`"failed to parse select parameter (data->>-7x)" (line 1, column 10)`,
			`unexpected 'x' expecting digit, "->", "::", ".", "," or end of input`},
		"or=()": {`"failed to parse logic tree (())" (line 1, column 4)`,
			`unexpected ")" expecting field name (* or [a..z0..9_$]), negation operator (not) or logic operator (and, or)`},
		"or=(id.eq.1,not.xor(a.eq.2))": {`"failed to parse logic tree ((id.eq.1,not.xor(a.eq.2)))" (line 1, column 16)`,
			`unexpected "x" expecting logic operator (and, or)`},
		"columns=,": {`"failed to parse columns parameter (,)" (line 1, column 1)`,
			`unexpected "," expecting field name (* or [a..z0..9_$])`},
	} {
		_, err := Query(query, false)
		if err == nil {
			t.Errorf("%s: no error", query)
			continue
		}
		if d := cmp.Diff(want, [2]string{err.Message, err.Details}); d != "" {
			t.Errorf("%s (-want +got):\n%s", query, d)
		}
	}
}

func TestQuery(t *testing.T) {
	q, err := Query(`?select=a:b->c->>0::text,x:rel!inner!hint(*,...sub(id)),n.sum()::int&id=in.("a,b",c)&rel.or=(a.eq.1,not.and(b.like.x*,c.in.(1,2)))`+
		`&order=a.desc.nullslast,rel(n)&limit=5&offset=2&rel.limit=3&on_conflict=a,b&columns=b,a,b&ignored&x;y=eq.1`,
		false)
	if err != nil {
		t.Fatal(err)
	}
	eq := func(name, value string) ast.Logic {
		return ast.Logic{Filter: &ast.Filter{Field: ast.Field{Name: name}, Op: "eq", Value: ast.Value{Text: value}}}
	}
	want := &ast.Query{
		Select: []ast.SelectItem{
			{Field: ast.Field{Name: "b", Path: []ast.JSONStep{{Key: "c"}, {Key: "+0", Index: true, AsText: true}}},
				Cast: "text", Alias: "a"},
			{Relation: "rel", Hint: "hint", Join: ast.InnerJoin, Alias: "x", Items: []ast.SelectItem{
				{Field: ast.Field{Name: "*"}},
				{Relation: "sub", Spread: true, Items: []ast.SelectItem{{Field: ast.Field{Name: "id"}}}}}},
			{Field: ast.Field{Name: "n"}, Aggregate: ast.Sum, AggregateCast: "int"},
		},
		Filters: []ast.At[ast.Filter]{{Path: ast.Path{},
			Value: ast.Filter{Field: ast.Field{Name: "id"}, Op: "in", Values: []string{"a,b", "c"}}},
			{Path: ast.Path{}, Value: ast.Filter{Field: ast.Field{Name: "y"}, Op: "eq", Value: ast.Value{Text: "1"}}}},
		Logic: []ast.At[ast.Logic]{{Path: ast.Path{"rel"},
			Value: ast.Logic{Or: true, Children: []ast.Logic{eq("a", "1"),
				{Not: true, Children: []ast.Logic{{Filter: &ast.Filter{Field: ast.Field{Name: "b"}, Op: "like",
					Value: ast.Value{Text: "x*"}}},
					{Filter: &ast.Filter{Field: ast.Field{Name: "c"}, Op: "in", Values: []string{"1", "2"}}}}}}}}},
		Order: []ast.At[[]ast.OrderTerm]{{Path: ast.Path{},
			Value: []ast.OrderTerm{{Field: ast.Field{Name: "a"}, Direction: ast.Desc, Nulls: ast.NullsLast},
				{Relation: "rel", Field: ast.Field{Name: "n"}}}}},
		Ranges: []ast.At[ast.Range]{{Path: ast.Path{"rel"}, Value: ast.Range{Lo: 0, Hi: 2}}},
		Range:  ast.Range{Lo: 2, Hi: 6}, Columns: []string{"a", "b"}, OnConflict: []string{"a", "b"},
		FilterKeys: []string{"id", "y"}, Canonical: q.Canonical,
	}
	if d := cmp.Diff(want, q); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if text := Canonical(q.Canonical, nil); !strings.HasPrefix(text,
		"columns=b%2Ca%2Cb&id=in.%28%22a%2Cb%22%2Cc%29&ignored=&limit=5&offset=2") {
		t.Error(text)
	}
}

func TestCallArguments(t *testing.T) {
	q, err := Query("a=1&b=eq.2&c=eqs", true)
	if err != nil {
		t.Fatal(err)
	}
	want := []ast.Param{{Name: "a", Value: ast.Value{Text: "1"}}, {Name: "c", Value: ast.Value{Text: "eqs"}}}
	if d := cmp.Diff(want, q.Params); d != "" || len(q.Filters) != 1 {
		t.Errorf("%v %s", q.Filters, d)
	}
}

func TestHeaders(t *testing.T) {
	p := Prefer([]string{"return=representation, count=exact, be=nice",
		"return=minimal,timezone=UTC,max-affected=7,tx=rollback"}, false)
	if p.Return != "representation" || p.Count != "exact" || *p.Timezone != "UTC" || *p.MaxAffected != 7 ||
		p.Tx != "" || len(p.Invalid) != 1 {
		t.Errorf("%+v", p)
	}
	accept := Accept([]string{`text/csv;q=0.3, application/vnd.pgrst.plan+json; for="text/xml"; options=analyze|what, */*;q=0.1`})
	want := []string{`application/vnd.pgrst.plan+json; for="text/xml"; options=analyze`, "text/csv", "*/*"}
	for i, m := range accept {
		if m.Mime() != want[i] {
			t.Errorf("%d: %s, want %s", i, m.Mime(), want[i])
		}
	}
	for header, want := range map[string]struct {
		ast.Range
		ast.Huge
	}{
		"5-9":                    {ast.Range{Lo: 5, Hi: 9}, ast.Huge{}},
		"nonsense":               {ast.AllRows(), ast.Huge{}},
		"0-99999999999999999999": {ast.Range{Lo: 0, Hi: 1 << 61}, ast.Huge{Limit: "100000000000000000000"}},
		"99999999999999999999-":  {ast.Range{Lo: 1 << 61, Hi: ast.NoLimit}, ast.Huge{Offset: "99999999999999999999"}},
		"99999999999999999999-99999999999999999990": {ast.Range{Lo: 1, Hi: 0}, ast.Huge{}},
	} {
		if r, huge := Range(header); r != want.Range || huge != want.Huge {
			t.Errorf("%s: %v %v, want %v", header, r, huge, want)
		}
	}
}

// FuzzQuery checks that no query string makes the parser panic, and that every error has a message
// and details.
func FuzzQuery(f *testing.F) {
	for _, raw := range corpus(f) {
		f.Add(raw, false)
		f.Add(raw, true)
	}
	f.Fuzz(func(t *testing.T, raw string, call bool) {
		q, err := Query(raw, call)
		if err != nil && (err.Message == "" || err.Details == "" || q != nil) {
			t.Errorf("%q: %+v %+v", raw, q, err)
		}
		if err == nil {
			if _, jerr := json.Marshal(q); jerr != nil {
				t.Error(jerr)
			}
		}
	})
}

// FuzzHeaders checks that no header makes a parser panic.
func FuzzHeaders(f *testing.F) {
	f.Add("return=minimal, count=exact", "text/csv;q=0.3,*/*", `application/vnd.pgrst.plan; for="a/b"; options=x|y`,
		"0-9")
	f.Add("timezone=,max-affected=x", ";q=", `a/b;c="`, "-")
	f.Fuzz(func(t *testing.T, prefer, accept, media, rows string) {
		Prefer([]string{prefer}, true)
		if len(Accept([]string{accept})) == 0 {
			t.Error("Accept returns no media type")
		}
		r, _ := Range(rows)
		if MediaType(media).Mime() == "" && media != "" && r.AtMost(10).Lo < 0 {
			t.Error("a negative offset")
		}
	})
}

func BenchmarkQuery(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Query("select=id,name,child(id,label::text)&id=in.(1,2,3)&or=(a.eq.1,b.is.null)&order=id.desc.nullslast&limit=25", false); err != nil {
			b.Fatal(err)
		}
	}
}
