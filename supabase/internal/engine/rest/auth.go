package rest

import (
	"encoding/json"
	"net/http"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/engine/rest/token"
)

// identity is the role and the claims that a request runs with.
type identity struct {
	role   string
	claims string // with the role among them, for request.jwt.claims
	anon   bool
}

// maxTokenAge is how long a verified token stays cached. After that time a revoked key no longer
// works.
const maxTokenAge = time.Minute

// identify verifies the bearer token of a request. Verified tokens are cached until they expire,
// and for maxTokenAge at most; tokens that have expired are cached for maxTokenAge.
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
	if entry, ok := s.tokens.get(text, now); ok {
		e.counts.tokenHits.Add(1)
		if entry.expired {
			return identity{}, token.ErrExpired()
		}
		return entry.id, nil
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
	until := now.Add(maxTokenAge)
	if err := token.Check(claims, now, allowed); err != nil {
		if token.IsExpired(err) {
			e.keepToken(s, text, tokenEntry{until: until, expired: true})
		}
		return identity{}, err
	}
	id, err := identityOf(c, claims)
	if err != nil {
		return identity{}, err
	}
	if exp, ok := token.Expiry(claims); ok && exp.Before(until) {
		until = exp
	}
	e.keepToken(s, text, tokenEntry{id: id, until: until})
	return id, nil
}

// keepToken adds a token to the cache.
func (e *Engine) keepToken(s *state, text string, entry tokenEntry) {
	if s.tokens.put(text, entry) {
		e.counts.tokenEvicted.Add(1)
	}
}

// identityOf returns the identity of verified claims.
func identityOf(c *Config, claims json.RawMessage) (identity, *apierror.Error) {
	role, ok := c.RoleClaim.Role(claims)
	var all map[string]json.RawMessage
	if json.Unmarshal(claims, &all) != nil {
		return identity{}, apierror.Errorf(401, "PGRST303", "Parsing claims failed")
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
		return identity{}, apierror.Errorf(401, "PGRST303", "Parsing claims failed")
	}
	return identity{role, string(text), role == c.AnonRole}, nil
}

// tokenCache holds verified tokens. A full cache drops the token that was not used for the longest
// time.
type tokenCache struct {
	entries *lru.Cache[string, tokenEntry]
} // nil keeps no tokens

// tokenEntry is what is known of a token until a time. An expired one stays expired, so its
// signature is not verified again either.
type tokenEntry struct {
	id      identity
	until   time.Time
	expired bool
}

// newTokenCache returns a cache of at most size tokens, which keeps none if size is not positive.
func newTokenCache(size int) tokenCache {
	if size <= 0 {
		return tokenCache{}
	}
	return tokenCache{newLRU[string, tokenEntry](size)}
}

func (t tokenCache) get(text string, now time.Time) (tokenEntry, bool) {
	if t.entries == nil {
		return tokenEntry{}, false
	}
	e, ok := t.entries.Get(text)
	return e, ok && !now.After(e.until)
}

// put adds a token and reports whether it replaced another one.
func (t tokenCache) put(text string, entry tokenEntry) (evicted bool) {
	if t.entries == nil {
		return false
	}
	return t.entries.Add(text, entry)
}
