package rest_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"daawo/supabase/internal/engine/rest/grammar"
)

// TestPlanByShape plans random queries after others of the same shape, by the cache and without.
// Both lead to the same statements and parameters, or to the same error.
func TestPlanByShape(t *testing.T) {
	b := open(t, nil)
	shared := 0
	rapid.Check(t, func(t *rapid.T) {
		method := rapid.SampledFrom([]string{"GET", "GET", "HEAD", "DELETE"}).Draw(t, "method")
		prefer := rapid.SampledFrom([]string{"", "count=exact", "count=planned", "count=estimated"}).Draw(t, "prefer")
		request := func(target string) *http.Request {
			r := httptest.NewRequest(method, target, nil)
			r.Header.Set("Prefer", prefer)
			return r
		}
		first := drawURL(t)
		path, query, _ := strings.Cut(first, "?")
		shape, values := grammar.Shape(query, strings.HasPrefix(path, "/rpc/"))
		if _, err := b.engine.Planned(request(first), true); err == nil && len(values) > 0 {
			shared++
		}
		second := path + "?" + otherValues(t, shape)
		for _, target := range []string{first, second, first} {
			want, wantErr := b.engine.Planned(request(target), false)
			got, err := b.engine.Planned(request(target), true)
			if d := cmp.Diff(wantErr, err); d != "" {
				t.Errorf("%s %s after %s: error (-without +cached):\n%s", method, target, first, d)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%s %s after %s (-without +cached):\n%s", method, target, first, d)
			}
		}
	})
	if shared == 0 {
		t.Error("no query had values")
	}
}

// otherValues returns a query of a shape with random values.
func otherValues(t *rapid.T, shape string) string {
	var b strings.Builder
	for i, part := range strings.Split(shape, "\x00") {
		if i > 0 {
			value := rapid.SampledFrom([]string{"", "7", "eq.1", "not.is.null", "{3,4}", "a*b", "null", marker, "(1,2)",
				"&limit=1", "in.(1)", "\x00", "é"}).Draw(t, "other value")
			b.WriteString(url.QueryEscape(value))
		}
		b.WriteString(part)
	}
	return b.String()
}

// TestPlansOfOneShape checks that requests share one plan whatever their values, and that the
// replies hold the rows of their own values.
func TestPlansOfOneShape(t *testing.T) {
	b := open(t, nil)
	before := b.engine.CachedPlans()
	for i := 1; i <= 3; i++ {
		id := strconv.Itoa(i)
		w := httptest.NewRecorder()
		b.engine.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/books?select=id&id=eq."+id, nil))
		if w.Code != http.StatusOK || w.Body.String() != `[{"id":`+id+`}]` ||
			w.Header().Get("Content-Location") != "/books?id=eq."+id+"&select=id" {
			t.Errorf("%d %s %v", w.Code, w.Body, w.Header())
		}
	}
	if n := b.engine.CachedPlans() - before; n != 1 {
		t.Errorf("%d plans for one shape", n)
	}
	long := "/books?title=eq." + strings.Repeat("x", 8000)
	for range 2 {
		b.engine.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, long, nil))
	}
	if n := b.engine.CachedPlans() - before; n != 2 {
		t.Errorf("%d plans, want 2: a long value is no part of the key", n)
	}
}

// BenchmarkPlan plans requests that differ in their values, by the cache and without.
func BenchmarkPlan(b *testing.B) {
	a := open(b, nil)
	requests := make([]*http.Request, 1000)
	for i := range requests {
		requests[i] = httptest.NewRequest(http.MethodGet, "/books?select=id,title&id=eq."+strconv.Itoa(i), nil)
	}
	for name, cached := range map[string]bool{"cached": true, "without": false} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if _, err := a.engine.Planned(requests[i%len(requests)], cached); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
