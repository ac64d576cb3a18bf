package rest

import (
	"net/http"
	"strings"

	lru "github.com/hashicorp/golang-lru/v2"

	"daawo/supabase/internal/engine/rest/grammar"
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
	method, path, shape string
	headers             [len(planHeaders)]string
	given               [len(planHeaders)]bool // tells an empty header from a missing one
}

func planKeyOf(r *http.Request, shape string) planKey {
	k := planKey{method: r.Method, path: r.URL.EscapedPath(), shape: shape}
	for i, name := range planHeaders {
		values := r.Header[name]
		k.given[i] = len(values) > 0
		k.headers[i] = strings.Join(values, "\n") // a value has no line break
	}
	return k
}

func (k *planKey) size() int {
	n := len(k.method) + len(k.path) + len(k.shape)
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

// shapeOf returns the shape of a request's query, and its values. Only GET calls functions by the
// query.
func shapeOf(r *http.Request) (shape string, values []string) {
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	return grammar.Shape(r.URL.RawQuery, reads && strings.HasPrefix(r.URL.EscapedPath(), "/rpc/"))
}

// cachedPlan is prepare with a cache, because many requests differ only in their values, which it
// returns too. Requests with a body are not cached.
func (s *state) cachedPlan(r *http.Request, t *stopwatch) (*prepared, []string, error) {
	shape, values := shapeOf(r)
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		p, err := s.prepare(r, shape, t)
		return p, values, err
	}
	key := planKeyOf(r, shape)
	if p, ok := s.plans.entries.Get(key); ok && (p.form != columns || !s.unconvertible.Contains(p.statement.SQL)) {
		t.lap("parse")
		t.lap("plan")
		return p, values, nil
	}
	p, err := s.prepare(r, shape, t)
	if err == nil && p.plan != nil && key.size() <= maxPlanKeySize {
		key.method, key.path = p.request.Method, p.request.path // which hold no other part of the request
		s.plans.entries.Add(key, p)
	}
	return p, values, err
}
