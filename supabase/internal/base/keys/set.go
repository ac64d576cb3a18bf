package keys

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"daawo/supabase/internal/base/atomicfile"
)

// Set holds every key of an installation. It is stored in one file of mode 0600, or comes from
// environment variables in a compose installation.
type Set struct {
	JWTSecret string `json:"jwt_secret"` // HS256; signs the legacy API keys and verifies legacy tokens
	Signing   []Key  `json:"signing"`    // the first signs new tokens; all verify
	Previous  []Key  `json:"previous"`   // replaced by rotation; verify session tokens until the next rotation

	Anon        string `json:"anon"`         // legacy API keys: tokens for the roles anon and service_role
	ServiceRole string `json:"service_role"` //
	Publishable string `json:"publishable"`  // opaque API keys, which only the gateway understands
	Secret      string `json:"secret"`       //

	// the token that an opaque key resolves to; "" means the legacy token
	AnonToken        string `json:"anon_token"`
	ServiceRoleToken string `json:"service_role_token"` //

	Retired []Retired `json:"retired,omitempty"` // publishable keys that offline pages may still send
}

// The roles of API keys.
const (
	RoleAnon    = "anon"
	RoleService = "service_role"
)

// roleUser is the role of a signed-in user.
const roleUser = "authenticated"

// Demo returns the official CLI's well-known local set, which Supabase tutorials use. Its keys are
// public knowledge, so it is for loopback only.
func Demo() Set {
	const expires = 1983812996 // in 2032
	s := Set{
		JWTSecret:   "super-secret-jwt-token-with-at-least-32-characters-long",
		Publishable: "sb_publishable_ACJWlzQHlZjBrEguHvfOxg_3BJgxAaH",
		Secret:      "sb_secret_N7UND0UgjKTVK-Uodkm0Hg_xSvEMPvz",
	}
	key := Secret("", s.JWTSecret)
	s.Anon, _ = key.Sign(fmt.Appendf(nil, `{"iss":"supabase-demo","role":"anon","exp":%d}`, expires))
	s.ServiceRole, _ = key.Sign(fmt.Appendf(nil, `{"iss":"supabase-demo","role":"service_role","exp":%d}`, expires))
	return s
}

// IsDemo reports whether any part of the set comes from the demo set.
func (s Set) IsDemo() bool {
	d := Demo()
	return s.JWTSecret == d.JWTSecret || s.Anon == d.Anon || s.ServiceRole == d.ServiceRole ||
		s.Publishable == d.Publishable || s.Secret == d.Secret
}

// Generate makes a new set: a secret, an ES256 signing key, and legacy and opaque API keys that are
// valid for ten years.
func Generate(now time.Time) (Set, error) {
	signing, err := GenerateES256()
	if err != nil {
		return Set{}, err
	}
	s := Set{
		JWTSecret:   random(48),
		Signing:     []Key{signing},
		Publishable: newOpaque("sb_publishable_"),
		Secret:      newOpaque("sb_secret_"),
	}
	return s, s.mint(now)
}

// mint signs the role tokens of the set with its current keys.
func (s *Set) mint(now time.Time) error {
	payload := func(role string) json.RawMessage {
		return fmt.Appendf(nil, `{"role":%q,"iss":"supabase","iat":%d,"exp":%d}`, role, now.Unix(),
			now.AddDate(10, 0, 0).Unix())
	}
	legacy := Secret("", s.JWTSecret)
	var errs [4]error
	s.Anon, errs[0] = legacy.Sign(payload(RoleAnon))
	s.ServiceRole, errs[1] = legacy.Sign(payload(RoleService))
	if len(s.Signing) > 0 {
		s.AnonToken, errs[2] = s.Signing[0].Sign(payload(RoleAnon))
		s.ServiceRoleToken, errs[3] = s.Signing[0].Sign(payload(RoleService))
	}
	return errors.Join(errs[:]...)
}

// Verifying returns every key that verifies tokens. Previous keys are marked, so that they verify
// only tokens that survive rotation, also in other processes that receive the keys.
func (s Set) Verifying() []Key {
	keys := []Key{Secret("", s.JWTSecret)}
	keys = append(keys, s.Signing...)
	for _, k := range s.Previous {
		k.previous = true
		keys = append(keys, k)
	}
	return keys
}

// Signer returns the key that signs new tokens: the first signing key, else the legacy secret.
func (s Set) Signer() Key {
	for _, k := range s.Signing {
		if k.CanSign() {
			return k
		}
	}
	return Secret("", s.JWTSecret)
}

// Resolved is what an API key of a Set stands for.
type Resolved struct {
	Role, Token string // the token carries the role
	Functions   bool   // see OfFunctions
}

// Resolve looks up an API key. It compares every key of the set in constant time and does not stop
// at a match. It derives the keys of functions only for a key that is none of the set.
func (s Set) Resolve(apikey string, now time.Time) (found Resolved, ok bool) {
	given := sha256.Sum256([]byte(apikey))
	consider := func(key, role, token string) {
		want := sha256.Sum256([]byte(key))
		if key != "" && subtle.ConstantTimeCompare(given[:], want[:]) == 1 {
			found, ok = Resolved{Role: role, Token: token}, true
		}
	}
	consider(s.Anon, RoleAnon, s.Anon)
	consider(s.ServiceRole, RoleService, s.ServiceRole)
	consider(s.Publishable, RoleAnon, cmp.Or(s.AnonToken, s.Anon))
	consider(s.Secret, RoleService, cmp.Or(s.ServiceRoleToken, s.ServiceRole))
	for _, old := range s.Retired {
		if now.Before(old.Until) {
			consider(old.Key, RoleAnon, cmp.Or(s.AnonToken, s.Anon))
		}
	}
	if !ok && s.OfFunctions(apikey) {
		return Resolved{RoleService, cmp.Or(s.ServiceRoleToken, s.FunctionsServiceRole()), true}, true
	}
	return found, ok
}

// Load reads a set from a file. It returns fs.ErrNotExist if the file is missing and refuses a file
// that others can read.
func Load(path string) (Set, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Set{}, err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return Set{}, fmt.Errorf("%s is readable by others (mode %04o): run chmod 600, and rotate the keys if other people use this machine", path, info.Mode().Perm())
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return Set{}, err
	}
	var s Set
	if err := json.Unmarshal(text, &s); err != nil {
		return Set{}, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// Save writes the set atomically to a file that only its owner can read.
func (s Set) Save(path string) error {
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.WriteFile(path, append(text, '\n'), 0o600)
}

// newOpaque makes an opaque API key: 22 random characters and a checksum of 8, so that a truncated
// key is recognised.
func newOpaque(prefix string) string {
	body := random(17)[:22]
	sum := sha256.Sum256([]byte(prefix + body))
	return prefix + body + "_" + base64.RawURLEncoding.EncodeToString(sum[:])[:8]
}

// random returns n random bytes in base64url.
func random(n int) string {
	raw := make([]byte, n)
	_, _ = rand.Read(raw) // never fails (crypto/rand)
	return base64.RawURLEncoding.EncodeToString(raw)
}
