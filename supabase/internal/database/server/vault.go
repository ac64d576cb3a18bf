package server

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"

	"daawo/supabase/internal/base/atomicfile"
)

// VaultKeyFile returns the file of the root key that encrypts the secrets of the
// extension supabase_vault, for the cluster at data. It lies beside the cluster,
// so no dump and no base backup contains it.
func VaultKeyFile(data string) string { return data + ".vault-key" }

// ensureVaultKey creates the key if it is missing, and lets Postgres' user read
// it. A key that came from a backup may belong to another user.
func ensureVaultKey(o Options, w owner) error {
	name := VaultKeyFile(o.Data)
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := writeVaultKey(name); err != nil {
			return explain("make the key of the vault", o, err)
		}
	case err != nil:
		return explain("read the key of the vault", o, err)
	case info.Mode().Perm() != 0o600:
		if err := os.Chmod(name, 0o600); err != nil {
			return explain("protect the key of the vault", o, err)
		}
	}
	return w.chown(name)
}

// writeVaultKey writes 64 random bytes in hexadecimal. A crash leaves no
// incomplete key.
func writeVaultKey(name string) error {
	key := make([]byte, 64)
	rand.Read(key) // never fails
	return atomicfile.WriteFile(name, []byte(hex.EncodeToString(key)+"\n"), 0o600)
}
