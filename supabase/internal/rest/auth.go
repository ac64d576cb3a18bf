package rest

import (
	"encoding/json"
	"net/http"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"daawo/supabase/internal/rest/token"
	"daawo/supabase/internal/wire"
)

// identity is the role and the claims that a request runs with.
type identity struct {
	role   string
	claims string // with the role among them, for request.jwt.claims
	anon   bool
}

// maxTokenAge is how long a verified token stays cached. After that time a revoked key no longer works.
const maxTokenAge = time.Minute

// identify verifies the bearer token of a request. Verified tokens are cached until they expire, and for maxTokenAge at
// most.
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
	if id, ok := s.tokens.get(text, now); ok {
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
	until := now.Add(maxTokenAge)
	if exp, ok := token.Expiry(claims); ok && exp.Before(until) {
		until = exp
	}
	if s.tokens.put(text, id, until) {
		e.counts.tokenEvicted.Add(1)
	}
	return id, nil
}

// identityOf returns the identity of verified claims.
func identityOf(c *Config, claims json.RawMessage) (identity, *wire.Error) {
	role, ok := c.RoleClaim.Role(claims)
	var all map[string]json.RawMessage
	if json.Unmarshal(claims, &all) != nil {
		return identity{}, wire.Errorf(401, "PGRST303", "Parsing claims failed")
	}
	if !ok {
		if _, subject := all["sub"]; subject && c.RefuseIDTokens {
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

// tokenCache holds verified tokens. A full cache drops the token that was not used for the longest time.
type tokenCache struct {
	entries *lru.Cache[string, tokenEntry]
} // nil keeps no tokens

type tokenEntry struct {
	id    identity
	until time.Time
}

// newTokenCache returns a cache of at most size tokens, which keeps none if size is not positive.
func newTokenCache(size int) tokenCache {
	if size <= 0 {
		return tokenCache{}
	}
	return tokenCache{newLRU[string, tokenEntry](size)}
}

func (t tokenCache) get(text string, now time.Time) (identity, bool) {
	if t.entries == nil {
		return identity{}, false
	}
	e, ok := t.entries.Get(text)
	if !ok || now.After(e.until) {
		return identity{}, false
	}
	return e.id, true
}

// put adds a token and reports whether it replaced another one.
func (t tokenCache) put(text string, id identity, until time.Time) (evicted bool) {
	if t.entries == nil {
		return false
	}
	return t.entries.Add(text, tokenEntry{id, until})
}
