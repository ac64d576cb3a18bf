package postgres

import (
	"context"
	"fmt"
	"maps"

	"github.com/jackc/pgx/v5"
)

// SetPasswords sets the passwords that login roles use over TCP. The roles
// must exist. It does not rewrite a password that a role already has.
func (s *Server) SetPasswords(ctx context.Context, passwords map[string]string) error {
	// Concurrent ALTER ROLE statements on one role fail.
	s.passwordMu.Lock()
	defer s.passwordMu.Unlock()
	conn, err := pgx.Connect(ctx, s.URL(Superuser))
	if err != nil {
		return fmt.Errorf("set passwords: %w", err)
	}
	defer conn.Close(ctx)
	for role, password := range passwords {
		var secret *string
		if err := conn.QueryRow(ctx, `select rolpassword from pg_authid where rolname = $1`, role).Scan(&secret); err != nil {
			return fmt.Errorf("set password of %s: %w", role, err)
		}
		if secret != nil && scramMatches(*secret, password) {
			continue
		}
		made, err := scramSecret(password)
		if err != nil {
			return fmt.Errorf("set password of %s: %w", role, err)
		}
		// Send the SCRAM hash: a plain password in a statement could reach logs
		// and pg_stat_statements.
		sql := fmt.Sprintf(`alter role %s password '%s'`, pgx.Identifier{role}.Sanitize(), made)
		if _, err := conn.Exec(ctx, sql); err != nil {
			return fmt.Errorf("set password of %s: %w", role, err)
		}
	}
	s.mu.Lock()
	maps.Copy(s.passwords, passwords)
	s.mu.Unlock()
	return nil
}
