// Package keyring finds, rotates and holds the keys of an installation, and accepts the tokens of a
// third-party issuer.
package keyring

import (
	"errors"
	"reflect"
	"sync"
	"time"

	"daawo/supabase/internal/base/keys"
	"daawo/supabase/internal/gateway"
)

// Keyring holds the keys of the running stack. A rotation replaces them in two steps while the
// stack serves: first all parts accept the new keys (Learn), then they sign with them and refuse
// the old API keys (Use). So no part, and no other server with the same database, receives a token
// before it knows the key.
type Keyring struct {
	changing sync.Mutex // held during a change, so that the last one is told last
	mu       sync.RWMutex
	accepted keys.Set // the newest keys, which are accepted
	active   keys.Set // the keys that sign and that are shown; accepted as well
	verifier *keys.Verifier
	now      func() time.Time
	changed  []func(keys.Set) // called with the newest keys after a change
	third    []keys.Key       // of the issuer of [auth.third_party]
	unknown  chan struct{}    // receives a value when a token names an unknown key
}

// New returns a keyring with these keys in use.
func New(set keys.Set, now func() time.Time) *Keyring {
	return &Keyring{now: now, accepted: set, active: set, unknown: make(chan struct{}, 1),
		verifier: keys.NewVerifier(keys.Options{Now: now, RefuseIDTokens: true}, set.Verifying()...)}
}

// Learn accepts the new keys besides the active ones.
func (k *Keyring) Learn(set keys.Set) {
	k.change(func() { k.accepted = set })
}

// Use makes the newest keys the active ones. From then on an old key is accepted only if the newest
// set contains it.
func (k *Keyring) Use() {
	k.change(func() { k.active = k.accepted })
}

// change runs step and calls the functions in changed.
func (k *Keyring) change(step func()) {
	k.changing.Lock()
	defer k.changing.Unlock()
	k.mu.Lock()
	step()
	set, changed := k.accepted, k.changed
	k.verifier.SetKeys(append(k.verifying(), k.third...)...)
	k.mu.Unlock()
	for _, notify := range changed {
		notify(set)
	}
}

// OnChange adds a function that is called with the newest keys after a change.
func (k *Keyring) OnChange(f func(keys.Set)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.changed = append(k.changed, f)
}

// Verifier returns the verifier of the tokens that all services but auth accept.
func (k *Keyring) Verifier() *keys.Verifier { return k.verifier }

// verifying implements Verifying. The caller must hold mu.
func (k *Keyring) verifying() []keys.Key {
	if reflect.DeepEqual(k.accepted, k.active) {
		return k.accepted.Verifying()
	}
	return append(k.accepted.Verifying(), k.active.Verifying()...)
}

// newest returns the newest keys, which are not active yet between the two steps of a rotation.
func (k *Keyring) newest() keys.Set {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.accepted
}

// Current returns the active keys.
func (k *Keyring) Current() keys.Set {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.active
}

// Signer returns the key that signs new tokens.
func (k *Keyring) Signer() keys.Key { return k.Current().Signer() }

// Verifying returns the keys whose tokens auth accepts: between the two steps of a rotation those
// of both sets.
func (k *Keyring) Verifying() []keys.Key {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.verifying()
}

// Trusted returns the keys whose tokens all other services accept: Verifying's and the
// third-party issuer.
func (k *Keyring) Trusted() []keys.Key {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return append(k.verifying(), k.third...)
}

// trust replaces the keys of the third-party issuer.
func (k *Keyring) trust(third []keys.Key) { k.change(func() { k.third = third }) }

// Resolve implements gateway.KeySet. Between the two steps of a rotation it accepts the API keys of
// both sets.
func (k *Keyring) Resolve(apikey string) (gateway.Key, bool) {
	key, ok := k.Current().Resolve(apikey, k.now())
	if !ok {
		key, ok = k.newest().Resolve(apikey, k.now())
	}
	return gateway.Key(key), ok
}

// Role returns the role of a token, or "" if the token is not accepted.
func (k *Keyring) Role(token string) string {
	claims, err := k.verifier.Verify(token)
	if errors.Is(err, keys.ErrKey) {
		select {
		case k.unknown <- struct{}{}: // the third-party issuer may have a new key
		default:
		}
	}
	if err != nil {
		return ""
	}
	return claims.Role
}
