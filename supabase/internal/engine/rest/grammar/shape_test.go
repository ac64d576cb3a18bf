package grammar

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"daawo/supabase/internal/engine/rest/ast"
)

func TestShape(t *testing.T) {
	for _, c := range []struct {
		raw, shape string
		values     []string
	}{
		{"id=eq.17", "id=eq.|", []string{"17"}},
		{"id=eq.17&name=not.like.a%2Bb*;x=fts.%26", "id=eq.|&name=not.like.|;x=fts.|", []string{"17", "a+b*", "&"}},
		{"a=eq(any).{1,2}&b=neq(any).{1,2}", "a=eq(any).|&b=neq(any).{1,2}", []string{"{1,2}"}},
		{"data-%3E%3Ea=gte.2026-11-28T00:00:00.5%2B03&n.id=eq.", "data-%3E%3Ea=gte.|&n.id=eq.|",
			[]string{"2026-11-28T00:00:00.5+03", ""}},
		{"id=eq.1%00&id=eq.\x00&&", "id=eq.|&id=eq.|&&", []string{"1\x00", "\x00"}},
		{"id=in.(1,2)&x=is.null&or=(a.eq.1)&limit=5&n.offset=5", "", nil},
		{"select=eq.1&columns=eq.1&on_conflict=eq.1&order=eq.1&n.order=eq.1&and=eq.1&n.not.or=eq.1", "", nil},
		{"id=%65q.1&id=eq%2E1&id=EQ.1&id=not.not.eq.1&id=fts(simple).x&?select=eq.1", "", nil},
		{"sel%65ct=eq.1&%73elect=eq.1&\"a.limit\"=eq.1&a+b=eq.1&%3Fselect=eq.1&id", "", nil},
		{"?select=eq.1", "", nil},
		{"a=1&b=x.y", "", nil},
	} {
		want := strings.ReplaceAll(c.shape, "|", "\x00")
		if want == "" {
			want = c.raw
		}
		shape, values := Shape(c.raw, false)
		if shape != want || !slices.Equal(values, c.values) {
			t.Errorf("%q: %q %q, want %q %q", c.raw, shape, values, want, c.values)
		}
	}
	shape, values := Shape("a=1&b=x.y&c=eq.2&d=is.null&e=in.x&f=1.5&g=not.&h=%65q.1&limit=3", true)
	if shape != "a=\x00&b=\x00&c=eq.\x00&d=is.null&e=in.x&f=\x00&g=not.&h=%65q.1&limit=3" ||
		!slices.Equal(values, []string{"1", "x.y", "2", "1.5"}) {
		t.Errorf("%q %q", shape, values)
	}
}

// drawQuery returns a query string of pieces that the parser reads in different ways.
func drawQuery(t *rapid.T) string {
	piece := rapid.SampledFrom([]string{"select", "order", "limit", "or", "not", "and", "id", "a", "data->>x", "->",
		"eq", "neq", "in", "is", "isdistinct", "like", "fts", "wfts(simple)", "(any)", "(all)", "null", ".", ".", ".",
		"=", "=", "=", "&", "&", ";", "?", ",", "(", ")", "1", "-1", "*", "\"", "%2E", "%65q", "%00", "\x00", "+", "%",
		"é", "\xff"})
	return strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "query"), "")
}

// checkShape checks that a query means the same as its shape with its values.
func checkShape(t interface{ Errorf(string, ...any) }, raw string, call bool) {
	shape, values := Shape(raw, call)
	if strings.Count(shape, "\x00") != len(values) {
		t.Errorf("%q: shape %q has not %d values", raw, shape, len(values))
		return
	}
	want, wantErr := Query(strings.ReplaceAll(raw, "\x00", "%00"), call)
	got, err := Query(shape, call)
	if d := cmp.Diff(wantErr, err); d != "" {
		t.Errorf("%q: error (-query +shape):\n%s", raw, d)
	}
	if err != nil || wantErr != nil {
		return
	}
	fill := func(v *ast.Value) { *v = ast.Value{Text: v.In(values)} }
	for i := range got.Filters {
		fill(&got.Filters[i].Value.Value)
	}
	for i := range got.Params {
		fill(&got.Params[i].Value)
	}
	if a, b := Canonical(want.Canonical, nil), Canonical(got.Canonical, values); a != b {
		t.Errorf("%q: canonical query %q, want %q", raw, b, a)
	}
	got.Canonical = want.Canonical
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%q (-query +shape):\n%s", raw, d)
	}
}

// TestShapeKeepsMeaning checks random queries and those of the corpus.
func TestShapeKeepsMeaning(t *testing.T) {
	for _, raw := range corpus(t) {
		checkShape(t, raw, false)
		checkShape(t, raw, true)
	}
	rapid.Check(t, func(t *rapid.T) { checkShape(t, drawQuery(t), rapid.Bool().Draw(t, "call")) })
}

func corpus(t testing.TB) (list []string) {
	text, err := os.ReadFile("testdata/queries.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		list = append(list, strings.TrimSpace(line))
	}
	return list
}

func FuzzShape(f *testing.F) {
	for _, raw := range corpus(f) {
		f.Add(raw, false)
		f.Add(raw, true)
	}
	f.Fuzz(func(t *testing.T, raw string, call bool) { checkShape(t, raw, call) })
}

func BenchmarkShape(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Shape("select=id,note,total&id=eq.17&limit=25", false)
	}
}
