package deno

import (
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

//go:embed bootstrap.js
var bootstrap string

// writeBootstrap writes the module that runs before each function, unless it is there, and returns
// its path beside the folder of Deno's cache. All processes have the same path: Deno keeps the
// compiled code of each path that it has seen.
func writeBootstrap(cache string) (string, error) {
	path := fmt.Sprintf("%s-%.8x.js", cache, sha256.Sum256([]byte(bootstrap)))
	if text, err := os.ReadFile(path); err == nil && string(text) == bootstrap {
		return path, nil
	}
	part := path + ".part"
	return path, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(part, []byte(bootstrap), 0o600),
		os.Rename(part, path))
}
