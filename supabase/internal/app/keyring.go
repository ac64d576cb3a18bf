package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"time"

	"daawo/supabase/internal/config"
	"daawo/supabase/internal/gateway"
	"daawo/supabase/internal/keys"
	"daawo/supabase/internal/rest/token"
)

// keyring holds the keys of the running stack. Rotation replaces them while it serves.
type keyring struct {
	mu       sync.RWMutex
	set      keys.Set
	verifier *keys.Verifier
	changed  []func(keys.Set) // told after a rotation
}

// KeysFile is where a data folder keeps its keys.
func KeysFile(data string) string { return filepath.Join(data, "keys.json") }

// LoadKeys finds the keys of an installation: those of the environment, those of its file, and where there is neither
// the official CLI's local ones on loopback and fresh ones elsewhere. On a public address the local ones are refused.
func LoadKeys(c *config.Config, data string) (keys.Set, error) {
	set, given, err := environmentKeys(c.Keys)
	if err != nil || given {
		return refuseDemo(c, set, err)
	}
	set, err = keys.Load(KeysFile(data))
	if errors.Is(err, fs.ErrNotExist) {
		if c.Loopback() {
			return keys.Demo(), nil
		}
		set, err = keys.LoadOrGenerate(KeysFile(data), time.Now())
	}
	return refuseDemo(c, set, err)
}

func refuseDemo(c *config.Config, set keys.Set, err error) (keys.Set, error) {
	if err == nil && !c.Loopback() && set.IsDemo() {
		err = fmt.Errorf("the keys are the official CLI's local ones, which everybody knows: they are refused on %s; unset them and fresh ones are generated", c.Host)
	}
	return set, err
}

// environmentKeys reads the keys of the compose form; given says whether there are any.
func environmentKeys(k config.APIKeys) (set keys.Set, given bool, err error) {
	set = keys.Set{
		JWTSecret: k.JWTSecret, Anon: k.Anon, ServiceRole: k.ServiceRole, Publishable: k.Publishable, Secret: k.Secret,
		AnonToken: k.AnonAsymmetric, ServiceRoleToken: k.ServiceRoleAsymmetric,
	}
	if k == (config.APIKeys{}) {
		return set, false, nil
	}
	for _, source := range []struct{ name, text string }{{"JWT_KEYS", k.JWTKeys}, {"JWT_JWKS", k.JWTJWKS}} {
		if source.text == "" {
			continue
		}
		all, err := keys.ParseSet(source.text)
		if err != nil {
			return set, true, fmt.Errorf("%s: %w", source.name, err)
		}
		for _, key := range all {
			if key.Algorithm == "HS256" && k.JWTSecret != "" {
				continue // the secret under its other name
			}
			set.Signing = append(set.Signing, key)
		}
	}
	for _, need := range []struct{ name, value string }{
		{"JWT_SECRET", k.JWTSecret}, {"ANON_KEY", k.Anon}, {"SERVICE_ROLE_KEY", k.ServiceRole},
	} {
		if need.value == "" {
			return set, true, fmt.Errorf("%s: is needed when keys are given by environment", need.name)
		}
	}
	return set, true, nil
}

func newKeyring(set keys.Set) *keyring {
	return &keyring{set: set, verifier: keys.NewVerifier(keys.Options{}, set.Verifying()...)}
}

// replace takes new keys into use.
func (k *keyring) replace(set keys.Set) {
	k.mu.Lock()
	k.set = set
	k.verifier.SetKeys(set.Verifying()...)
	changed := k.changed
	k.mu.Unlock()
	for _, tell := range changed {
		tell(set)
	}
}

func (k *keyring) current() keys.Set {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.set
}

// Resolve is gateway.KeySet.
func (k *keyring) Resolve(apikey string) (gateway.Key, bool) {
	role, token, ok := k.current().Resolve(apikey, time.Now())
	return gateway.Key{Role: role, Token: token}, ok
}

// openers is what REST checks tokens with.
func openers(set keys.Set) (*token.Set, error) {
	var all struct {
		Keys []keys.Key `json:"keys"`
	}
	for _, key := range set.Verifying() {
		if public, ok := key.Public(); ok {
			key = public
		}
		all.Keys = append(all.Keys, key)
	}
	text, err := json.Marshal(all)
	if err != nil {
		return nil, err
	}
	return token.NewSet(text)
}
