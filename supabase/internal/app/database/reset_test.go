package database

import (
	"context"
	"net/url"
	"testing"
)

// TestRenameBeforeConnection checks that a rename that ends before the second connection is made
// counts as a success: the database has been replaced then.
func TestRenameBeforeConnection(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	given, err := url.Parse("postgresql://postgres@127.0.0.1:1/postgres")
	if err != nil {
		t.Fatal(err)
	}
	if err := (reset{database: &Database{given: given}}).endSessions(ctx); err != nil {
		t.Errorf("endSessions: %v, want nil after the rename", err)
	}
}
