package main

import (
	"go/build"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestBuildSeesWhatIsEmbedded: make builds the program anew when a file changes that is compiled into it. The site and the
// archive of Postgres have rules of their own.
func TestBuildSeesWhatIsEmbedded(t *testing.T) {
	list := exec.CommandContext(t.Context(), "make", "-s", "-f", "Makefile", "-f", "-", "sources")
	list.Dir, list.Stdin = "..", strings.NewReader("sources:\n\t@echo $(SOURCES)\n")
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	sources := map[string]bool{}
	for _, file := range strings.Fields(string(out)) {
		sources[file] = true
	}
	missing := func(file string) {
		if file = filepath.ToSlash(file); !sources[file] && file != "supabase/internal/postgres/bundle/postgres.zip" {
			t.Errorf("make does not see a change of %s", file)
		}
	}
	embedded := 0
	for _, root := range []string{"supabase", "functions"} {
		err := filepath.WalkDir(filepath.Join("..", root), func(dir string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return err
			}
			if d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && d.Name() != ".." {
				return filepath.SkipDir
			}
			in := build.Default
			in.BuildTags = []string{"bundle"}
			p, err := in.ImportDir(dir, 0)
			if err != nil {
				return nil // a folder without Go
			}
			for _, file := range p.GoFiles {
				missing(filepath.Join(dir, file)[len("../"):])
			}
			for _, pattern := range p.EmbedPatterns {
				found, err := filepath.Glob(filepath.Join(dir, pattern))
				if err != nil {
					return err
				}
				for _, file := range found {
					err := filepath.WalkDir(file, func(file string, d fs.DirEntry, err error) error {
						if err == nil && !d.IsDir() {
							embedded++
							missing(file[len("../"):])
						}
						return err
					})
					if err != nil {
						return err
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if embedded < 20 {
		t.Errorf("%d embedded files were found", embedded)
	}
}
