package rest

import (
	"net/http"
	"strings"

	lru "github.com/hashicorp/golang-lru/v2"
)

// The bounds of the plan cache: the number of entries, and the size in bytes of a key. An entry
// takes a few kilobytes.
const (
	maxPlans       = 512
	maxPlanKeySize = 2048
)

// planHeaders are the headers that prepare reads from requests without a body.
var planHeaders = [...]string{"Accept", "Accept-Profile", "Prefer", "Range", "Content-Type"}

// planKey is everything that prepare reads from a request without a body.
type planKey struct {
	method, path, query string
	headers             [len(planHeaders)]string
	given               [len(planHeaders)]bool // tells an empty header from a missing one
}

func planKeyOf(r *http.Request) planKey {
	k := planKey{method: r.Method, path: r.URL.EscapedPath(), query: r.URL.RawQuery}
	for i, name := range planHeaders {
		values := r.Header[name]
		k.given[i] = len(values) > 0
		k.headers[i] = strings.Join(values, "\n") // a value has no line break
	}
	return k
}

func (k *planKey) size() int {
	n := len(k.method) + len(k.path) + len(k.query)
	for _, h := range k.headers {
		n += len(h)
	}
	return n
}

// planCache holds prepared requests of one configuration and one load of the schema. A full cache
// drops the entry that was not used for the longest time.
type planCache struct {
	entries *lru.Cache[planKey, *prepared]
}

func newPlanCache() planCache { return planCache{newLRU[planKey, *prepared](maxPlans)} }

// cachedPlan is prepare with a cache, because many requests are the same. Requests with a body are
// not cached.
func (s *state) cachedPlan(r *http.Request, t *stopwatch) (*prepared, error) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return s.prepare(r, t)
	}
	key := planKeyOf(r)
	if p, ok := s.plans.entries.Get(key); ok && (p.form != columns || !s.unconvertible.Contains(p.statement.SQL)) {
		t.lap("parse")
		t.lap("plan")
		return p, nil
	}
	p, err := s.prepare(r, t)
	if err == nil && p.plan != nil && key.size() <= maxPlanKeySize {
		s.plans.entries.Add(key, p)
	}
	return p, err
}
