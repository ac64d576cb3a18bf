package rest

import (
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"daawo/supabase/internal/rest/token"
	"daawo/supabase/internal/wire"
)

// identity is who a request speaks for.
type identity struct {
	role   string
	claims string // the claims with the role in them, for request.jwt.claims
	anon   bool
}

// identify checks the bearer token of a request. Verified tokens are remembered until they expire, and for at most a
// minute, so that a key that was taken away stops working soon.
func (e *Engine) identify(s *state, r *http.Request) (identity, error) {
	c := &s.config
	text, given := token.Bearer(r.Header.Get("Authorization"))
	if !given {
		if c.AnonRole == "" {
			return identity{}, token.ErrMissing()
		}
		return identity{c.AnonRole, `{"role":` + quoteJSON(c.AnonRole) + `}`, true}, nil
	}
	now := e.now()
	e.counts.tokens.Add(1)
	if id, ok := e.tokens.get(text, now); ok {
		e.counts.tokenHits.Add(1)
		return id, nil
	}
	if c.Keys == nil {
		return identity{}, token.ErrNoSecret()
	}
	claims, err := c.Keys.Verify(text)
	if err != nil {
		return identity{}, err
	}
	allowed := c.Audience
	if allowed == nil {
		allowed = func(string) bool { return true }
	}
	if err := token.Check(claims, now, allowed); err != nil {
		return identity{}, err
	}
	id, err := identityOf(c, claims)
	if err != nil {
		return identity{}, err
	}
	if c.CacheSize > 0 {
		until := now.Add(time.Minute)
		if exp, ok := token.Expiry(claims); ok && exp.Before(until) {
			until = exp
		}
		e.counts.tokenEvicted.Add(e.tokens.put(text, id, until, c.CacheSize))
	}
	return id, nil
}

func identityOf(c *Config, claims json.RawMessage) (identity, *wire.Error) {
	role, ok := c.RoleClaim.Role(claims)
	var all map[string]json.RawMessage
	if json.Unmarshal(claims, &all) != nil {
		return identity{}, wire.Errorf(401, "PGRST303", "Parsing claims failed")
	}
	if !ok {
		if _, person := all["sub"]; person && c.RefuseIDTokens {
			return identity{}, token.ErrNoRole()
		}
		role = c.AnonRole
	}
	if role == "" {
		return identity{}, token.ErrMissing()
	}
	all["role"] = json.RawMessage(quoteJSON(role))
	text, err := json.Marshal(all)
	if err != nil {
		return identity{}, wire.Errorf(401, "PGRST303", "Parsing claims failed")
	}
	return identity{role, string(text), role == c.AnonRole}, nil
}

// tokenCache remembers verified tokens.
type tokenCache struct {
	mu      sync.RWMutex
	entries map[string]tokenEntry
}

type tokenEntry struct {
	id    identity
	until time.Time
}

func (t *tokenCache) get(text string, now time.Time) (identity, bool) {
	t.mu.RLock()
	e, ok := t.entries[text]
	t.mu.RUnlock()
	if !ok || now.After(e.until) {
		return identity{}, false
	}
	return e.id, true
}

// put remembers a token and says how many were forgotten for it. A full cache drops some entry: which one, the map
// decides.
func (t *tokenCache) put(text string, id identity, until time.Time, size int) (evicted int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.entries == nil {
		t.entries = map[string]tokenEntry{}
	}
	for k := range t.entries {
		if len(t.entries) < size {
			break
		}
		delete(t.entries, k)
		evicted++
	}
	t.entries[text] = tokenEntry{id, until}
	return evicted
}

func (t *tokenCache) clear() {
	t.mu.Lock()
	t.entries = nil
	t.mu.Unlock()
}
