package rest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"daawo/supabase/internal/database/testdb"
)

// randomJSON returns a random JSON text with random white space, escape sequences, equal keys and
// forms of numbers.
func randomJSON(r *rand.Rand, depth int) string {
	space := func() string { return []string{"", "", " ", "\n\t", "  "}[r.IntN(5)] }
	text := func() string {
		parts := []string{"a", "bb", "é", "😀", `\"`, `\\`, `\/`, `\n`, `\b`, `\u00e9`, `\ud83d\ude00`, `\u001f`,
			`\u0022`, `\u007f`, "<", "\u007f", "x", "long text "}
		var b strings.Builder
		for range r.IntN(5) {
			b.WriteString(parts[r.IntN(len(parts))])
		}
		return `"` + b.String() + `"`
	}
	list := func(open, shut string, item func() string) string {
		var items []string
		for range r.IntN(6) {
			items = append(items, space()+item()+space())
		}
		return open + strings.Join(items, ",") + space() + shut
	}
	kind := r.IntN(8)
	if depth > 4 {
		kind %= 5
	}
	switch kind {
	case 0:
		return []string{"true", "false", "null"}[r.IntN(3)]
	case 1:
		return text()
	case 2:
		return []string{"-0", "0", "-0.00", "1e5", "1E-7", "-1.50e1", "0e3", "0.0e-3", "-0e0", "1.5e+2", "12.340e-5",
			"100e-2", "1e300", "0.00e1"}[r.IntN(14)]
	case 3:
		return fmt.Sprintf("%d.%d%s", r.IntN(300)-150, r.IntN(1000),
			[]string{"", "00", fmt.Sprintf("e%d", r.IntN(60)-30)}[r.IntN(3)])
	case 4:
		return fmt.Sprint(r.Int64() >> r.IntN(60))
	case 5:
		return list("[", "]", func() string { return randomJSON(r, depth+1) })
	default:
		return list("{", "}", func() string {
			key := fmt.Sprintf(`"%s"`, []string{"id", "a", "b", "name", "nome", "", "é", "zz", "a b"}[r.IntN(9)])
			return key + space() + ":" + space() + randomJSON(r, depth+1)
		})
	}
}

// manyKeys returns an object with n keys in the opposite order of jsonb's, each of them twice. A
// person can store such a document.
func manyKeys(n int) string {
	var b strings.Builder
	for i := 2*n - 1; i >= 0; i-- {
		fmt.Fprintf(&b, `,"k%06d":%d`, i/2, i)
	}
	return "{" + b.String()[1:] + "}"
}

// TestPrintAsJSONB compares the printer with Postgres for random JSON.
func TestPrintAsJSONB(t *testing.T) {
	database := testdb.New(t)
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	texts := make([]string, 4000)
	for i := range texts {
		texts[i] = randomJSON(r, 0)
	}
	texts = append(texts, manyKeys(20_000), "1e-900", "[-1.5e-999]")
	all, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	answer := testdb.Value[string](database,
		`select json_agg(value::jsonb::text order by n) from json_array_elements_text($1::json) with ordinality as _ (value, n)`, string(all))
	if err := json.Unmarshal([]byte(answer), &want); err != nil {
		t.Fatal(err)
	}
	var p jsonbPrinter
	for i, text := range texts {
		got, ok := p.append([]byte("before"), []byte(text))
		if !ok || string(got) != "before"+want[i] {
			t.Fatalf("seed %d: %s\n got %s %v\nwant %s", seed, text, got, ok, want[i])
		}
	}
}

// TestLeaveToPostgres checks that the printer fails for texts whose result it does not know:
// Postgres' errors, limits of its numbers, keys with escape sequences.
func TestLeaveToPostgres(t *testing.T) {
	var p jsonbPrinter
	for _, text := range []string{`"\u0000"`, `"\ud83d"`, `"\ud83dx"`, `"\ude00"`, `{"\n": 1}`, "1e100000", "1e-2000",
		"1" + strings.Repeat("0", 1000),
		strings.Repeat("[", 300) + strings.Repeat("]", 300), ``, `{`, `{"a"`, `{"a":1`, `[1`, `"a`, `tru`, `1 2`, `-`,
		`{"a" 1}`} {
		if got, ok := p.append(nil, []byte(text)); ok {
			t.Errorf("%.20s: %.20s", text, got)
		}
	}
}

func FuzzPrintAsJSONB(f *testing.F) {
	f.Add([]byte(`{"b": [1, 2.50e1, "\u00e9"], "a": {"x": null, "x": true}}`))
	f.Fuzz(func(t *testing.T, src []byte) {
		var p jsonbPrinter
		got, ok := p.append(nil, src)
		if !ok || !json.Valid(src) {
			return
		}
		if !json.Valid(got) {
			t.Fatalf("%q became %q", src, got)
		}
		// 1e1000 becomes a number that is left to Postgres
		if again, ok := p.append(nil, got); ok && string(again) != string(got) {
			t.Fatalf("%q became %q", got, again)
		}
	})
}

func BenchmarkPrintAsJSONB(b *testing.B) {
	text := []byte("[" + strings.TrimSuffix(strings.Repeat(`{"id":12345,"note":"a note of some length","total":17.125,"at":"2026-01-02T03:04:05.678901+00:00"}, `+"\n ", 100), ", \n ") + "]")
	var p jsonbPrinter
	var dst []byte
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		var ok bool
		if dst, ok = p.append(dst[:0], text); !ok {
			b.Fatal()
		}
	}
}
