package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets the scripts call this very program by its name.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"daawo": main})
}

// TestCommandLine runs the scripts in testdata/cli: what an operator types and what is answered.
func TestCommandLine(t *testing.T) {
	top, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/cli",
		Setup: func(e *testscript.Env) error {
			// Postgres' own user must be able to enter, and the npm package is found from the working folder upwards.
			for _, dir := range []string{e.WorkDir, filepath.Dir(e.WorkDir)} {
				if err := os.Chmod(dir, 0o755); err != nil {
					return err
				}
			}
			if err := os.Symlink(top+"/../node_modules", e.WorkDir+"/node_modules"); err != nil {
				return err
			}
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("PROJECT", top)
			e.Setenv("XDG_CACHE_HOME", os.TempDir())
			return nil
		},
	})
}
