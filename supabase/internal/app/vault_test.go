package app

import (
	"testing"

	"github.com/jackc/pgx/v5"
)

// TestVaultOfConfig checks that the secrets of [db.vault] are in the vault after a start, and have
// their new value after the next.
func TestVaultOfConfig(t *testing.T) {
	data := dataFolder(t)
	for _, value := range []string{"first", "second"} {
		a := newApp(t, data, nil)
		a.Config.DB.Vault = map[string]string{"token": value, "unset": ""}
		if err := a.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		conn, err := pgx.Connect(t.Context(), a.Info().Get("DB_URL"))
		if err != nil {
			t.Fatal(err)
		}
		var got string
		var n int
		if err := conn.QueryRow(t.Context(),
			`select max(decrypted_secret), count(*) from vault.decrypted_secrets`).Scan(&got, &n); err != nil ||
			got != value || n != 1 {
			t.Errorf("%q in %d secrets, want %q: %v", got, n, value, err)
		}
		if err := conn.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if err := a.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
