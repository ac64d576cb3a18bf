package database

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// storeSecrets puts the secrets of [db.vault] into the vault, before the migrations, which may use
// them. A secret whose variable is not set is left as it is.
func (d *Database) storeSecrets(ctx context.Context, conn *pgx.Conn) error {
	if len(d.Config.DB.Vault) == 0 {
		return nil
	}
	var exists bool
	if err := conn.QueryRow(ctx,
		`select to_regnamespace('vault') is not null and to_regclass('vault.decrypted_secrets') is not null`).Scan(&exists); err != nil {
		return err
	}
	if !exists {
		d.Log.Warn("db.vault: the database has no vault", "secrets", len(d.Config.DB.Vault))
		return nil
	}
	for name, secret := range d.Config.DB.Vault {
		if secret == "" {
			continue
		}
		if err := storeSecret(ctx, conn, name, secret); err != nil {
			return fmt.Errorf("db.vault.%s: %w", name, err)
		}
	}
	return nil
}

// storeSecret creates a secret of the vault, or changes it if it has another value.
func storeSecret(ctx context.Context, conn *pgx.Conn, name, secret string) error {
	var id, stored string
	err := conn.QueryRow(ctx, `select id::text, decrypted_secret from vault.decrypted_secrets where name = $1`,
		name).Scan(&id, &stored)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		_, err = conn.Exec(ctx, `select vault.create_secret($1, $2)`, secret, name)
	case err == nil && stored != secret:
		_, err = conn.Exec(ctx, `select vault.update_secret($1::uuid, $2)`, id, secret)
	}
	return err
}
