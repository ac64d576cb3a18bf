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

	"daawo/supabase/internal/config"
	"daawo/supabase/internal/gateway"
	"daawo/supabase/internal/keys"
)

// keyring holds the keys of the running stack. Rotation replaces them while it serves, in two steps: first everything that
// checks learns the new ones, then they are used to sign and the API keys of the old ones end. So no part, and no other
// server, meets a token before its key.
type keyring struct {
	mu       sync.RWMutex
	known    keys.Set // what is checked with
	used     keys.Set // what is signed with and shown
	verifier *keys.Verifier
	now      func() time.Time
	changed  []func(keys.Set) // told of keys that are to be known
}

// KeysFile is where a data folder keeps its keys.
func KeysFile(data string) string { return filepath.Join(data, "keys.json") }

// LoadKeys finds the keys of an installation: those of the environment, else those that are kept, in the database that
// several servers share or in the data folder; and where there are none, the official CLI's local ones on loopback and
// fresh ones elsewhere. On a public address the local ones are refused.
func LoadKeys(ctx context.Context, c *config.Config, data string) (keys.Set, error) {
	set, _, err := findKeys(ctx, c, data, true)
	return addConfigured(c, set, err)
}

// errNoKeys is said of an installation whose keys are still to be made.
var errNoKeys = errors.New("there are none yet; the first start makes them")

// lookForKeys is LoadKeys for who only looks: where that would make keys it fails with errNoKeys, and it stores nothing.
func lookForKeys(ctx context.Context, c *config.Config, data string) (keys.Set, error) {
	set, _, err := findKeys(ctx, c, data, false)
	return addConfigured(c, set, err)
}

// addConfigured adds the keys that config.toml names, when the others were found.
func addConfigured(c *config.Config, set keys.Set, err error) (keys.Set, error) {
	if err != nil || c.Auth.SigningKeysPath == "" {
		return set, err
	}
	// config.toml may name keys to sign with, as the official CLI has it; the first one signs.
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

// findKeys finds the keys but for what config.toml adds; shared says that they are in the database. Those that are not
// kept yet, or not where they belong, are stored if it may.
func findKeys(ctx context.Context, c *config.Config, data string, mayStore bool) (set keys.Set, shared bool, err error) {
	set, given, err := environmentKeys(c.Keys)
	if err == nil && !given && c.DatabaseURL != "" {
		set, shared, err = sharedKeys(ctx, c, data, mayStore)
	}
	if err == nil && !given && !shared {
		set, err = fileKeys(c, data, mayStore)
	}
	if err == nil && !c.Loopback() && set.IsDemo() {
		err = fmt.Errorf("the keys are the official CLI's local ones, which everybody knows: they are refused when %s; unset them and fresh ones are generated", c.Where())
	}
	return set, shared, err
}

// fileKeys are those of the data folder, which the first start of a public installation puts there.
func fileKeys(c *config.Config, data string, mayStore bool) (keys.Set, error) {
	set, err := keys.Load(KeysFile(data))
	if !errors.Is(err, fs.ErrNotExist) {
		return set, err
	}
	set, store, err := freshKeys(c, mayStore)
	if err == nil && store {
		err = saveKeys(data, set)
	}
	return set, err
}

// freshKeys are those of an installation that has none; store says that they are to be kept. Who may not store them gets
// none.
func freshKeys(c *config.Config, mayStore bool) (set keys.Set, store bool, err error) {
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
		return fmt.Errorf("data folder: %w", err)
	}
	return set.Save(KeysFile(data))
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
	// A key that only checks is as good as the others, unless it is marked: it may be another service's, that signs.
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
			return set, true, fmt.Errorf("%s: is needed when keys are given by environment", need.name)
		}
	}
	return set, true, nil
}

// parseRetired reads RETIRED_KEYS.
func parseRetired(text string) (retired []keys.Retired, err error) {
	for word := range strings.SplitSeq(text, ",") {
		if word = strings.TrimSpace(word); word == "" {
			continue
		}
		key, day, _ := strings.Cut(word, "@")
		until, err := time.Parse(time.DateOnly, day)
		if err != nil {
			return nil, fmt.Errorf("RETIRED_KEYS: an entry is not of the form KEY@2026-12-31")
		}
		retired = append(retired, keys.Retired{Key: key, Until: until})
	}
	return retired, nil
}

// EnvironmentOf writes a set as the variables of the compose form, in their order. One key of JWT_KEYS signs, the others
// only check: GoTrue refuses to start with two that may sign.
func EnvironmentOf(set keys.Set) ([]Value, error) {
	checking := checkOnly(set.Verifying())
	signing, err := json.Marshal(append([]keys.Key{set.Signer()}, without(checking, set.Signer())...))
	if err != nil {
		return nil, err
	}
	verifying, err := json.Marshal(struct {
		Keys []keys.Key `json:"keys"`
	}{checking})
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

// checkOnly leaves out what only signs, and keys that are there twice; secrets check too and stay.
func checkOnly(all []keys.Key) []keys.Key {
	out := make([]keys.Key, 0, len(all))
	for _, key := range all {
		out = append(without(out, key), key.CheckOnly())
	}
	return out
}

// without leaves out the key that has another one's id.
func without(all []keys.Key, other keys.Key) []keys.Key {
	return slices.DeleteFunc(slices.Clone(all), func(k keys.Key) bool { return k.ID == other.ID })
}

func newKeyring(set keys.Set, now func() time.Time) *keyring {
	return &keyring{now: now, known: set, used: set, verifier: keys.NewVerifier(keys.Options{Now: now, RefuseIDTokens: true}, set.Verifying()...)}
}

// learn makes new keys known.
func (k *keyring) learn(set keys.Set) {
	k.change(func() { k.known = set })
}

// use takes the keys that are known into use; of what the ones before signed only sessions go on.
func (k *keyring) use() {
	k.change(func() { k.used = k.known })
}

func (k *keyring) change(step func()) {
	k.mu.Lock()
	step()
	set, changed := k.known, k.changed
	k.verifier.SetKeys(k.verifying()...)
	k.mu.Unlock()
	for _, tell := range changed {
		tell(set)
	}
}

// verifying is Verifying for who holds the lock.
func (k *keyring) verifying() []keys.Key {
	if reflect.DeepEqual(k.known, k.used) {
		return k.known.Verifying()
	}
	return append(k.known.Verifying(), k.used.Verifying()...)
}

// checking are the keys that are known.
func (k *keyring) checking() keys.Set {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.known
}

// current are the keys in use.
func (k *keyring) current() keys.Set {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.used
}

// Signer is the key that signs new tokens.
func (k *keyring) Signer() keys.Key { return k.current().Signer() }

// Verifying are the keys whose tokens are accepted: between the two steps of a rotation those of both sets.
func (k *keyring) Verifying() []keys.Key {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.verifying()
}

// Resolve is gateway.KeySet. Between the two steps of a rotation the API keys of both sets open.
func (k *keyring) Resolve(apikey string) (gateway.Key, bool) {
	role, token, ok := k.current().Resolve(apikey, k.now())
	if !ok {
		role, token, ok = k.checking().Resolve(apikey, k.now())
	}
	return gateway.Key{Role: role, Token: token}, ok
}

// role is that of a token that is accepted, "" for any other.
func (k *keyring) role(token string) string {
	claims, err := k.verifier.Verify(token)
	if err != nil {
		return ""
	}
	return claims.Role
}
