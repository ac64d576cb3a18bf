package keys

import (
	"encoding/json"
	"time"
)

// RetiredFor is how long an old publishable key is accepted after rotation.
const RetiredFor = 30 * 24 * time.Hour

// Retired is an API key that rotation replaced and that is accepted for a while.
type Retired struct {
	Key   string    `json:"key"`
	Until time.Time `json:"until"`
}

// Rotate replaces every secret. The old secret API keys stop working. Sessions and signed links
// from the old keys work until they expire or until the next rotation. The old publishable key and
// the old anonymous token, which offline pages may still send, work for RetiredFor. The old JWT
// secret signs no session if another key signed them. Rotate keeps nothing of the demo set, because
// its keys are public knowledge.
func (s Set) Rotate(now time.Time) (Set, error) {
	next, err := s.Replace(now)
	if err != nil || s.IsDemo() {
		return next, err
	}
	secret := Secret(random(9), s.JWTSecret)
	_, shared := s.Signer().Shared()
	secret.anonymous = !shared
	next.Previous = []Key{secret}
	for _, k := range s.Signing {
		if public, ok := k.Public(); ok {
			next.Previous = append(next.Previous, public)
		}
	}
	return next, nil
}

// Replace is Rotate after a leak: it accepts nothing that the old keys signed, because a thief
// could sign sessions too.
func (s Set) Replace(now time.Time) (Set, error) {
	next, err := Generate(now)
	if err != nil {
		return Set{}, err
	}
	until := now.Add(RetiredFor)
	next.Retired = append(next.Retired, Retired{Key: s.Publishable, Until: until}, Retired{Key: s.Anon, Until: until})
	for _, old := range s.Retired {
		if now.Before(old.Until) {
			next.Retired = append(next.Retired, old)
		}
	}
	return next, nil
}

// survivesRotation reports whether a token that a replaced key signed is still accepted until it
// expires. This holds for session tokens, and for the anonymous token, which gives no more rights
// than a request without a token. All other tokens are API keys that last ten years, and rotation
// must end a stolen one. With anonymous the anonymous token alone survives.
func survivesRotation(claims json.RawMessage, anonymous bool) bool {
	var c struct {
		Role      string `json:"role"`
		Subject   string `json:"sub"`
		SessionID string `json:"session_id"`
	}
	if json.Unmarshal(claims, &c) != nil {
		return false
	}
	if c.Subject == "" {
		return c.Role == RoleAnon
	}
	return !anonymous && c.Role == roleUser && c.SessionID != ""
}
