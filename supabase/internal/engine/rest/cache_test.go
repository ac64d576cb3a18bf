package rest

import (
	"net/http/httptest"
	"strconv"
	"testing"
	"time"
)

func TestTokenCacheBounds(t *testing.T) {
	now := time.Now()
	c := newTokenCache(2)
	for i := range 3 {
		if evicted := c.put(strconv.Itoa(i),
			tokenEntry{id: identity{role: "anon"}, until: now.Add(time.Minute)}); evicted != (i == 2) {
			t.Errorf("put %d: evicted = %v", i, evicted)
		}
	}
	for text, want := range map[string]bool{"0": false, "1": true, "2": true} {
		if _, ok := c.get(text, now); ok != want {
			t.Errorf("get %s: %v, want %v", text, ok, want)
		}
	}
	if _, ok := c.get("2", now.Add(2*time.Minute)); ok {
		t.Error("an expired token is returned")
	}
	none := newTokenCache(0)
	none.put("0", tokenEntry{until: now.Add(time.Minute)})
	if _, ok := none.get("0", now); ok {
		t.Error("a cache of size 0 keeps a token")
	}
}

// TestPlanKey checks that requests that prepare reads differently have different keys.
func TestPlanKey(t *testing.T) {
	seen := map[planKey]string{}
	for _, c := range []struct {
		method, url string
		prefer      []string
	}{
		{"GET", "/a", nil}, {"HEAD", "/a", nil}, {"GET", "/b", nil}, {"GET", "/a?b=1", nil}, {"GET", "/a%2Fb", nil},
		{"GET", "/a/b", nil}, {"GET", "/a", []string{""}}, {"GET", "/a", []string{"x"}}, {"GET", "/a", []string{"x,y"}},
		{"GET", "/a", []string{"x", "y"}},
	} {
		r := httptest.NewRequest(c.method, c.url, nil)
		r.Header["Prefer"] = c.prefer
		k := planKeyOf(r, r.URL.RawQuery)
		name := c.method + " " + c.url + " " + strconv.Itoa(len(c.prefer))
		if other, ok := seen[k]; ok {
			t.Errorf("%s has the key of %s", name, other)
		}
		seen[k] = name
	}
	if len(seen) != 10 {
		t.Errorf("%d keys, want 10", len(seen))
	}
}

func BenchmarkCachedPlan(b *testing.B) {
	s := newState(Default())
	r := httptest.NewRequest("GET", "/notes?select=id,text&order=id.desc&limit=25", nil)
	r.Header.Set("Accept", "application/json")
	r.Header.Set("Prefer", "count=exact")
	s.plans.entries.Add(planKeyOf(r, r.URL.RawQuery), &prepared{})
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := s.cachedPlan(r, &stopwatch{}); err != nil {
			b.Fatal(err)
		}
	}
}
