package keys

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Set is every secret of an installation that signs or opens something. It is kept in one file of mode 0600, or given by
// environment in the compose form.
type Set struct {
	JWTSecret string `json:"jwt_secret"` // HS256; signs the legacy API keys and checks legacy tokens
	Signing   []Key  `json:"signing"`    // the first one signs new tokens; the others are on standby or previous and check
	Previous  []Key  `json:"previous"`   // what rotation replaced; checks tokens of sessions until the next rotation

	Anon        string `json:"anon"`         // legacy API keys: tokens for the roles anon and service_role
	ServiceRole string `json:"service_role"` //
	Publishable string `json:"publishable"`  // opaque API keys, which only the gateway understands
	Secret      string `json:"secret"`       //

	AnonToken        string `json:"anon_token"`         // what the opaque keys stand for; "" means the legacy token
	ServiceRoleToken string `json:"service_role_token"` //

	Retired []Retired `json:"retired,omitempty"` // publishable keys that pages kept offline may still send
}

// Retired is an API key that rotation replaced and that is accepted for a while.
type Retired struct {
	Key   string    `json:"key"`
	Until time.Time `json:"until"`
}

// RetiredFor is how long an old publishable key is accepted after rotation.
const RetiredFor = 30 * 24 * time.Hour

// The roles that an API key can stand for.
const (
	RoleAnon    = "anon"
	RoleService = "service_role"
)

// roleUser is the role of a person who is signed in.
const roleUser = "authenticated"

// Demo is the official CLI's well-known local set: every Supabase tutorial works with it, and so does every attacker.
// It is for loopback only.
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

// IsDemo says whether any part of the set is one that the whole world knows.
func (s Set) IsDemo() bool {
	d := Demo()
	return s.JWTSecret == d.JWTSecret || s.Anon == d.Anon || s.ServiceRole == d.ServiceRole || s.Publishable == d.Publishable || s.Secret == d.Secret
}

// Generate makes a fresh set: a secret, an ES256 signing key, and API keys of both kinds that are valid for ten years.
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
		return fmt.Appendf(nil, `{"role":%q,"iss":"supabase","iat":%d,"exp":%d}`, role, now.Unix(), now.AddDate(10, 0, 0).Unix())
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

// Verifying lists every key whose tokens are accepted. Those of the previous ones are marked: no API key that they signed
// is accepted, whoever checks.
func (s Set) Verifying() []Key {
	keys := []Key{Secret("", s.JWTSecret)}
	keys = append(keys, s.Signing...)
	for _, k := range s.Previous {
		k.previous = true
		keys = append(keys, k)
	}
	return keys
}

// Signer is the key that signs new tokens: the first signing key, else the legacy secret.
func (s Set) Signer() Key {
	for _, k := range s.Signing {
		if k.CanSign() {
			return k
		}
	}
	return Secret("", s.JWTSecret)
}

// Resolve finds an API key and says which role it stands for and which token carries that role. Every key is compared, in
// constant time, whichever fits.
func (s Set) Resolve(apikey string, now time.Time) (role, token string, ok bool) {
	given := sha256.Sum256([]byte(apikey))
	consider := func(key, keyRole, keyToken string) {
		want := sha256.Sum256([]byte(key))
		if key != "" && subtle.ConstantTimeCompare(given[:], want[:]) == 1 {
			role, token, ok = keyRole, keyToken, true
		}
	}
	consider(s.Anon, RoleAnon, s.Anon)
	consider(s.ServiceRole, RoleService, s.ServiceRole)
	consider(s.Publishable, RoleAnon, or(s.AnonToken, s.Anon))
	consider(s.Secret, RoleService, or(s.ServiceRoleToken, s.ServiceRole))
	for _, old := range s.Retired {
		if now.Before(old.Until) {
			consider(old.Key, RoleAnon, or(s.AnonToken, s.Anon))
		}
	}
	return role, token, ok
}

// Rotate replaces every secret. The old secret API keys end with it. Sessions that the old keys signed, and signed links, are
// accepted until they expire or the next rotation; the old publishable key and the old anonymous token, which pages kept
// offline may hold, for RetiredFor. Of keys that everybody knows nothing is kept.
func (s Set) Rotate(now time.Time) (Set, error) {
	next, err := s.Replace(now)
	if err != nil || s.IsDemo() {
		return next, err
	}
	next.Previous = []Key{Secret(random(9), s.JWTSecret)}
	for _, k := range s.Signing {
		if public, ok := k.Public(); ok {
			next.Previous = append(next.Previous, public)
		}
	}
	return next, nil
}

// Replace is Rotate that accepts nothing that the old keys signed: whoever has them could sign sessions, too.
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

// Load reads a set from a file; fs.ErrNotExist when there is none yet. A file that others may read is refused.
func Load(path string) (Set, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Set{}, err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return Set{}, fmt.Errorf("%s may be read by others (mode %04o): chmod 600 it, and rotate the keys if strangers use this machine", path, info.Mode().Perm())
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

// Save writes the set, whole or not at all, readable by its owner only.
func (s Set) Save(path string) error {
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".keys-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, werr := f.Write(append(text, '\n'))
	if err := errors.Join(werr, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// newOpaque makes an API key of the new kind: 22 random characters and a checksum of 8, so that a truncated key is
// recognised as such.
func newOpaque(prefix string) string {
	body := random(17)[:22]
	sum := sha256.Sum256([]byte(prefix + body))
	return prefix + body + "_" + base64.RawURLEncoding.EncodeToString(sum[:])[:8]
}

// random is n bytes of chance in base64url.
func random(n int) string {
	raw := make([]byte, n)
	_, _ = rand.Read(raw) // never fails (crypto/rand)
	return base64.RawURLEncoding.EncodeToString(raw)
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
