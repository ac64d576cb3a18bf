package token

import (
	"encoding/json"
	"math"
	"slices"
	"time"

	"daawo/supabase/internal/base/apierror"
)

// tolerance is the accepted difference between clocks.
const tolerance = 30 * time.Second

// Check checks the times and the audience of claims. allowed reports whether an audience is
// accepted.
func Check(claims json.RawMessage, now time.Time, allowed func(audience string) bool) *apierror.Error {
	var c struct {
		Expires   json.RawMessage `json:"exp"`
		NotBefore json.RawMessage `json:"nbf"`
		IssuedAt  json.RawMessage `json:"iat"`
		Audience  json.RawMessage `json:"aud"`
	}
	if json.Unmarshal(claims, &c) != nil {
		return invalid("PGRST303", "Parsing claims failed")
	}
	for _, t := range [...]struct {
		name  string
		raw   json.RawMessage
		bad   func(at int64) bool
		error string
	}{
		{"exp", c.Expires, func(at int64) bool { return now.Add(-tolerance).Unix() > at }, expired},
		{"nbf", c.NotBefore, func(at int64) bool { return now.Add(tolerance).Unix() < at }, "JWT not yet valid"},
		{"iat", c.IssuedAt, func(at int64) bool { return now.Add(tolerance).Unix() < at }, "JWT issued at future"},
	} {
		if isNull(t.raw) {
			continue
		}
		at, ok := seconds(t.raw)
		if !ok {
			return invalid("PGRST303", "The JWT '"+t.name+"' claim must be a number")
		}
		if t.bad(at) {
			if t.name == "exp" {
				return ErrExpired()
			}
			return invalid("PGRST303", t.error)
		}
	}
	if isNull(c.Audience) {
		return nil
	}
	var single string
	var many []string
	switch {
	case json.Unmarshal(c.Audience, &single) == nil:
		many = []string{single}
	case json.Unmarshal(c.Audience, &many) != nil:
		return invalid("PGRST303", "The JWT 'aud' claim must be a string or an array of strings")
	case len(many) == 0:
		return nil
	}
	if slices.ContainsFunc(many, allowed) {
		return nil
	}
	return invalid("PGRST303", "JWT not in audience")
}

const expired = "JWT expired"

// ErrExpired is the error for a token whose time is over.
func ErrExpired() *apierror.Error { return invalid("PGRST303", expired) }

// IsExpired reports whether err is the error for a token whose time is over. No later time changes
// that.
func IsExpired(err *apierror.Error) bool { return err.Message == expired }

func isNull(raw json.RawMessage) bool { return raw == nil || string(raw) == "null" }

// seconds reads a NumericDate. Fractions and numbers beyond 2^53 count as 0. ok is false if raw is
// not a number.
func seconds(raw json.RawMessage) (at int64, ok bool) {
	var n json.Number
	if raw[0] == '"' || json.Unmarshal(raw, &n) != nil {
		return 0, false
	}
	f, err := n.Float64()
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, true
	}
	return int64(f), true
}

// Expiry returns the exp claim, for caches of claims.
func Expiry(claims json.RawMessage) (time.Time, bool) {
	var c struct {
		Expires json.RawMessage `json:"exp"`
	}
	if json.Unmarshal(claims, &c) != nil || isNull(c.Expires) {
		return time.Time{}, false
	}
	at, ok := seconds(c.Expires)
	return time.Unix(at, 0), ok
}
