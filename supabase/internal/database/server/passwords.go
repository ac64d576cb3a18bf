package server

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"
)

// SetPasswords sets the passwords that login roles use over TCP. The roles
// must exist. It does not rewrite a password that a role already has.
func (s *Server) SetPasswords(ctx context.Context, passwords map[string]string) error {
	conn, err := pgx.Connect(ctx, s.URL(Superuser))
	if err != nil {
		return fmt.Errorf("set passwords: %w", err)
	}
	defer conn.Close(ctx)
	return s.SetPasswordsOver(ctx, conn, passwords)
}

// SetPasswordsOver is like SetPasswords, over a connection of a superuser.
func (s *Server) SetPasswordsOver(ctx context.Context, conn *pgx.Conn, passwords map[string]string) error {
	// Concurrent ALTER ROLE statements on one role fail.
	s.passwordMu.Lock()
	defer s.passwordMu.Unlock()
	secrets, err := storedSecrets(ctx, conn, slices.Collect(maps.Keys(passwords)))
	if err != nil {
		return fmt.Errorf("set passwords: %w", err)
	}
	changed, err := changedSecrets(secrets, passwords)
	if err != nil {
		return fmt.Errorf("set passwords: %w", err)
	}
	for role, secret := range changed {
		// Send the SCRAM hash: a plain password in a statement could reach logs
		// and pg_stat_statements.
		sql := fmt.Sprintf(`alter role %s password '%s'`, pgx.Identifier{role}.Sanitize(), secret)
		if _, err := conn.Exec(ctx, sql); err != nil {
			return fmt.Errorf("set password of %s: %w", role, err)
		}
	}
	s.mu.Lock()
	maps.Copy(s.passwords, passwords)
	s.mu.Unlock()
	return nil
}

// storedSecrets returns the stored secret of each role, "" for none. It returns
// an error if a role does not exist.
func storedSecrets(ctx context.Context, conn *pgx.Conn, roles []string) (map[string]string, error) {
	rows, err := conn.Query(ctx, `select rolname, coalesce(rolpassword, '') from pg_authid where rolname = any ($1)`,
		roles)
	if err != nil {
		return nil, err
	}
	secrets := map[string]string{}
	var role, secret string
	if _, err := pgx.ForEachRow(rows, []any{&role, &secret},
		func() error { secrets[role] = secret; return nil }); err != nil {
		return nil, err
	}
	for _, role := range roles {
		if _, ok := secrets[role]; !ok {
			return nil, fmt.Errorf("role %s does not exist", role)
		}
	}
	return secrets, nil
}

// changedSecrets returns new secrets for the roles whose stored secret does not match their
// password. It uses all cores: each secret takes thousands of hashes.
func changedSecrets(secrets, passwords map[string]string) (map[string]string, error) {
	var mu sync.Mutex
	changed := map[string]string{}
	var g errgroup.Group
	for role, password := range passwords {
		g.Go(func() error {
			if scramMatches(secrets[role], password) {
				return nil
			}
			secret, err := scramSecret(password)
			mu.Lock()
			defer mu.Unlock()
			changed[role] = secret
			return err
		})
	}
	return changed, g.Wait()
}
