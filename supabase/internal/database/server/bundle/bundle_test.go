package bundle

import (
	"errors"
	"io/fs"
	"testing"

	"daawo/supabase/internal/database/server"
)

func TestPackage(t *testing.T) {
	pkg, err := Package(".")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fs.Stat(pkg, "native/bin/postgres"); err != nil {
		t.Error(err)
	}
	if _, err := Package("/"); archive == "" && !errors.Is(err, server.ErrNoPackage) {
		t.Errorf("got %v, want ErrNoPackage", err)
	}
}
