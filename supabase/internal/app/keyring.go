package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"daawo/supabase/internal/app/datadir"
	"daawo/supabase/internal/base/config"
	"daawo/supabase/internal/base/keys"
	"daawo/supabase/internal/gateway"
)

// keyring holds the keys of the running stack. A rotation replaces them in two steps while the
// stack serves: first all parts accept the new keys (learn), then they sign with them and refuse
// the old API keys (use). So no part, and no other server with the same database, receives a token
// before it knows the key.
type keyring struct {
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

// KeysFile returns the path of the file of keys in a data folder.
func KeysFile(data string) string { return filepath.Join(data, "keys.json") }

// LoadKeys returns the keys of an installation: those of the environment, or else those stored in
// the database of DATABASE_URL or in the data folder. If there are none, it returns the local keys
// of the official CLI on loopback, and generates and stores keys otherwise. On a public address it
// refuses the local keys.
func LoadKeys(ctx context.Context, c *config.Config, data string) (keys.Set, error) {
	set, _, err := findKeys(ctx, c, data, true)
	return addConfigured(c, set, err)
}

// errNoKeys means that an installation has no keys yet.
var errNoKeys = errors.New("none yet; the first start generates them")

// findExistingKeys is LoadKeys without changes: it stores nothing, and where LoadKeys generates
// keys it returns errNoKeys.
func findExistingKeys(ctx context.Context, c *config.Config, data string) (keys.Set, error) {
	set, _, err := findKeys(ctx, c, data, false)
	return addConfigured(c, set, err)
}

// addConfigured adds the signing keys of config.toml to set, unless err is not nil.
func addConfigured(c *config.Config, set keys.Set, err error) (keys.Set, error) {
	if err != nil || c.Auth.SigningKeysPath == "" {
		return set, err
	}
	// As with the official CLI, the first key of the file signs.
	file := c.Auth.SigningKeysPath
	if !filepath.IsAbs(file) {
		file = filepath.Join(c.Dir, file)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return set, fmt.Errorf("[auth] signing_keys_path: %w", err)
	}
	signing, err := keys.ParseSet(string(text))
	if err != nil {
		return set, fmt.Errorf("[auth] signing_keys_path: %s: %w", file, err)
	}
	set.Signing = append(signing, set.Signing...)
	return set, nil
}

// findKeys returns the keys without those of config.toml. shared reports whether they are stored in
// the database. With mayStore it stores keys that are new, or that are in the data folder but
// belong in the database.
func findKeys(ctx context.Context, c *config.Config, data string, mayStore bool) (set keys.Set, shared bool,
	err error) {
	set, given, err := environmentKeys(c.Keys)
	if err == nil && !given && c.DatabaseURL != "" {
		set, shared, err = databaseKeys(ctx, c, data, mayStore)
	}
	if err == nil && !given && !shared {
		set, err = fileKeys(c, data, mayStore)
	}
	if err == nil && !c.Loopback() && set.IsDemo() {
		err = fmt.Errorf("the keys are the well-known local keys of the official CLI: they are refused when %s; unset them, and the next start generates new ones", c.Where())
	}
	return set, shared, err
}

// fileKeys returns the keys of the data folder. If there are none, it returns new keys and stores
// them there.
func fileKeys(c *config.Config, data string, mayStore bool) (keys.Set, error) {
	set, err := keys.Load(KeysFile(data))
	if !errors.Is(err, fs.ErrNotExist) {
		return set, err
	}
	set, store, err := newKeys(c, mayStore)
	if err == nil && store {
		err = saveKeys(data, set)
	}
	return set, err
}

// newKeys returns the keys of an installation that has none, and whether they must be stored.
// Without mayStore it returns errNoKeys instead of keys that must be stored.
func newKeys(c *config.Config, mayStore bool) (set keys.Set, store bool, err error) {
	if c.Loopback() {
		return keys.Demo(), false, nil
	}
	if !mayStore {
		return set, false, errNoKeys
	}
	set, err = keys.Generate(time.Now())
	return set, err == nil, err
}

func saveKeys(data string, set keys.Set) error {
	if err := os.MkdirAll(data, 0o755); err != nil {
		return datadir.Error(data, err)
	}
	return set.Save(KeysFile(data))
}

// environmentKeys reads keys from the variables of Docker compose. given reports whether any of
// them is set.
func environmentKeys(k config.APIKeys) (set keys.Set, given bool, err error) {
	set = keys.Set{
		JWTSecret: k.JWTSecret, Anon: k.Anon, ServiceRole: k.ServiceRole, Publishable: k.Publishable, Secret: k.Secret,
		AnonToken: k.AnonAsymmetric, ServiceRoleToken: k.ServiceRoleAsymmetric,
	}
	if k == (config.APIKeys{}) {
		return set, false, nil
	}
	for _, source := range []struct {
		name, text string
		to         *[]keys.Key
	}{{"JWT_KEYS", k.JWTKeys, &set.Signing}, {"JWT_JWKS", k.JWTJWKS, &set.Previous}} {
		if source.text == "" {
			continue
		}
		if *source.to, err = keys.ParseSet(source.text); err != nil {
			return set, true, fmt.Errorf("%s: %w", source.name, err)
		}
	}
	// A public key may belong to another service that signs, so it counts as replaced only if it is
	// marked so.
	all := append(set.Signing, set.Previous...)
	set.Previous = slices.DeleteFunc(slices.Clone(all), func(k keys.Key) bool { return !k.Replaced() })
	set.Signing = slices.DeleteFunc(all, keys.Key.Replaced)
	if set.Retired, err = parseRetired(k.Retired); err != nil {
		return set, true, err
	}
	for _, need := range []struct{ name, value string }{
		{"JWT_SECRET", k.JWTSecret}, {"ANON_KEY", k.Anon}, {"SERVICE_ROLE_KEY", k.ServiceRole},
	} {
		if need.value == "" {
			return set, true, fmt.Errorf("%s: is required if the environment sets another key, as it does now: %s; set it too, or `unset` those to use the keys of the data folder",
				need.name, strings.Join(setKeys(k), ", "))
		}
	}
	return set, true, nil
}

// setKeys returns the names of the variables of keys that are set.
func setKeys(k config.APIKeys) (names []string) {
	v := reflect.ValueOf(k)
	for i := range v.NumField() {
		if !v.Field(i).IsZero() {
			names = append(names, v.Type().Field(i).Tag.Get("env"))
		}
	}
	return names
}

// parseRetired parses RETIRED_KEYS.
func parseRetired(text string) (retired []keys.Retired, err error) {
	for word := range strings.SplitSeq(text, ",") {
		if word = strings.TrimSpace(word); word == "" {
			continue
		}
		key, day, _ := strings.Cut(word, "@")
		until, err := time.Parse(time.DateOnly, day)
		if err != nil {
			return nil, fmt.Errorf("RETIRED_KEYS: an entry does not have the form KEY@2026-12-31")
		}
		retired = append(retired, keys.Retired{Key: key, Until: until})
	}
	return retired, nil
}

// EnvironmentOf returns a set as variables for Docker compose. JWT_KEYS contains one key that
// signs, and the others only for verification: GoTrue does not start with two keys that sign.
func EnvironmentOf(set keys.Set) ([]Value, error) {
	verifyingKeys := withoutSigning(set.Verifying())
	signing, err := json.Marshal(append([]keys.Key{set.Signer()}, without(verifyingKeys, set.Signer())...))
	if err != nil {
		return nil, err
	}
	verifying, err := json.Marshal(struct {
		Keys []keys.Key `json:"keys"`
	}{verifyingKeys})
	if err != nil {
		return nil, err
	}
	var retired []string
	for _, old := range set.Retired {
		retired = append(retired, old.Key+"@"+old.Until.Format(time.DateOnly))
	}
	return []Value{
		{Name: "JWT_SECRET", Value: set.JWTSecret},
		{Name: "JWT_KEYS", Value: string(signing)},
		{Name: "JWT_JWKS", Value: string(verifying)},
		{Name: "ANON_KEY", Value: set.Anon},
		{Name: "SERVICE_ROLE_KEY", Value: set.ServiceRole},
		{Name: "SUPABASE_PUBLISHABLE_KEY", Value: set.Publishable},
		{Name: "SUPABASE_SECRET_KEY", Value: set.Secret},
		{Name: "ANON_KEY_ASYMMETRIC", Value: set.AnonToken},
		{Name: "SERVICE_ROLE_KEY_ASYMMETRIC", Value: set.ServiceRoleToken},
		{Name: "RETIRED_KEYS", Value: strings.Join(retired, ",")},
	}, nil
}

// withoutSigning returns the keys without their private parts and without duplicates. Shared
// secrets stay, because verification needs them.
func withoutSigning(all []keys.Key) []keys.Key {
	out := make([]keys.Key, 0, len(all))
	for _, key := range all {
		out = append(without(out, key), key.CheckOnly())
	}
	return out
}

// without returns all keys whose id is not that of other.
func without(all []keys.Key, other keys.Key) []keys.Key {
	return slices.DeleteFunc(slices.Clone(all), func(k keys.Key) bool { return k.ID == other.ID })
}

func newKeyring(set keys.Set, now func() time.Time) *keyring {
	return &keyring{now: now, accepted: set, active: set, unknown: make(chan struct{}, 1),
		verifier: keys.NewVerifier(keys.Options{Now: now, RefuseIDTokens: true}, set.Verifying()...)}
}

// learn accepts the new keys besides the active ones.
func (k *keyring) learn(set keys.Set) {
	k.change(func() { k.accepted = set })
}

// use makes the newest keys the active ones. From then on an old key is accepted only if the newest
// set contains it.
func (k *keyring) use() {
	k.change(func() { k.active = k.accepted })
}

// change runs step and calls the functions in changed.
func (k *keyring) change(step func()) {
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

// verifying implements Verifying. The caller must hold mu.
func (k *keyring) verifying() []keys.Key {
	if reflect.DeepEqual(k.accepted, k.active) {
		return k.accepted.Verifying()
	}
	return append(k.accepted.Verifying(), k.active.Verifying()...)
}

// newest returns the newest keys, which are not active yet between the two steps of a rotation.
func (k *keyring) newest() keys.Set {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.accepted
}

// current returns the active keys.
func (k *keyring) current() keys.Set {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.active
}

// Signer returns the key that signs new tokens.
func (k *keyring) Signer() keys.Key { return k.current().Signer() }

// Verifying returns the keys whose tokens auth accepts: between the two steps of a rotation those
// of both sets.
func (k *keyring) Verifying() []keys.Key {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.verifying()
}

// trusted returns the keys whose tokens all other services accept: those of Verifying and of the
// third-party issuer.
func (k *keyring) trusted() []keys.Key {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return append(k.verifying(), k.third...)
}

// trust replaces the keys of the third-party issuer.
func (k *keyring) trust(third []keys.Key) { k.change(func() { k.third = third }) }

// Resolve implements gateway.KeySet. Between the two steps of a rotation it accepts the API keys of
// both sets.
func (k *keyring) Resolve(apikey string) (gateway.Key, bool) {
	role, token, ok := k.current().Resolve(apikey, k.now())
	if !ok {
		role, token, ok = k.newest().Resolve(apikey, k.now())
	}
	return gateway.Key{Role: role, Token: token}, ok
}

// role returns the role of a token, or "" if the token is not accepted.
func (k *keyring) role(token string) string {
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
