package testdb

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// NewSite is New with the site's migrations, without its seed.
func NewSite(t testing.TB) *DB {
	t.Helper()
	_, here, _, _ := runtime.Caller(0)
	files, err := filepath.Glob(filepath.Join(filepath.Dir(here), "../../migrations/*.sql"))
	if err != nil || len(files) == 0 {
		t.Fatalf("testdb: no site migrations: %v", err)
	}
	db := New(t)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatalf("testdb: %v", err)
		}
		db.Exec(string(text))
	}
	return db
}
