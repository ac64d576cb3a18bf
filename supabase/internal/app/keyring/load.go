package keyring

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"daawo/supabase/internal/app/datadir"
	"daawo/supabase/internal/base/atomicfile"
	"daawo/supabase/internal/base/config"
	"daawo/supabase/internal/base/keys"
)

// File returns the path of the file of keys in a data folder.
func File(data string) string { return filepath.Join(data, "keys.json") }

// Load returns the keys of an installation: from the environment, or else stored in
// the database of DATABASE_URL or in the data folder. If there are none, it returns the local keys
// of the official CLI on loopback, and generates and stores keys otherwise. On a public address it
// refuses the local keys.
func Load(ctx context.Context, c *config.Config, data string) (keys.Set, error) {
	set, _, err := findKeys(ctx, c, data, true)
	return addConfigured(c, set, err)
}

// ErrNone means that an installation has no keys yet.
var ErrNone = errors.New("none yet; the first start generates them")

// LoadExisting is Load without changes: it stores nothing, and where Load generates
// keys it returns ErrNone.
func LoadExisting(ctx context.Context, c *config.Config, data string) (keys.Set, error) {
	set, _, err := findKeys(ctx, c, data, false)
	return addConfigured(c, set, err)
}

// addConfigured adds the signing keys of config.toml to set, unless err is not nil.
func addConfigured(c *config.Config, set keys.Set, err error) (keys.Set, error) {
	if err != nil || c.Auth.SigningKeysPath == "" {
		return set, err
	}
	// As with the official CLI, the first key of the file signs.
	file := c.Path(c.Auth.SigningKeysPath)
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

// findKeys returns the keys, config.toml's left out. shared reports whether they are stored in
// the database. With mayStore it stores keys that are new, or that are in the data folder but
// belong in the database.
func findKeys(ctx context.Context, c *config.Config, data string, mayStore bool) (set keys.Set, shared bool,
	err error) {
	set, given, err := FromEnvironment(c.Keys)
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
	set, err := keys.Load(File(data))
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
// Without mayStore it returns ErrNone instead of keys that must be stored.
func newKeys(c *config.Config, mayStore bool) (set keys.Set, store bool, err error) {
	if c.Loopback() {
		return keys.Demo(), false, nil
	}
	if !mayStore {
		return set, false, ErrNone
	}
	set, err = keys.Generate(time.Now())
	return set, err == nil, err
}

func saveKeys(data string, set keys.Set) error {
	if err := atomicfile.MkdirAll(data, 0o755); err != nil {
		return datadir.Error(data, err)
	}
	return set.Save(File(data))
}
