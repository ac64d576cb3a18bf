package housetest

import (
	"go/build"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestMakeSources checks that make rebuilds the program after a change of any file that is compiled
// into it. The site and the archive of Postgres have rules of their own.
func TestMakeSources(t *testing.T) {
	top := root(t)
	list := exec.CommandContext(t.Context(), "make", "-s", "-f", "Makefile", "-f", "-", "sources")
	list.Dir, list.Stdin = top, strings.NewReader("sources:\n\t@echo $(SOURCES)\n")
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	sources := map[string]bool{"supabase/internal/database/server/bundle/postgres.zip": true}
	for _, file := range strings.Fields(string(out)) {
		sources[file] = true
	}
	compiled, embedded := programFiles(t, top)
	for _, file := range append(compiled, embedded...) {
		if !sources[file] {
			t.Errorf("make does not see a change of %s", file)
		}
	}
	if len(compiled) < 200 || len(embedded) < 20 {
		t.Errorf("found only %d compiled and %d embedded files", len(compiled), len(embedded))
	}
}

// programFiles returns the Go files and embedded files of the packages below supabase and
// functions, by their paths below top.
func programFiles(t *testing.T, top string) (compiled, embedded []string) {
	t.Helper()
	below := func(file string) string {
		return filepath.ToSlash(strings.TrimPrefix(file, top+string(filepath.Separator)))
	}
	for _, folder := range []string{"supabase", "functions"} {
		err := filepath.WalkDir(filepath.Join(top, folder), func(dir string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return err
			}
			if d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") {
				return filepath.SkipDir
			}
			in := build.Default
			in.BuildTags = []string{"bundle"}
			p, err := in.ImportDir(dir, 0)
			if err != nil {
				return nil // a folder without Go
			}
			for _, file := range p.GoFiles {
				compiled = append(compiled, below(filepath.Join(dir, file)))
			}
			for _, pattern := range p.EmbedPatterns {
				files, err := matching(filepath.Join(dir, pattern))
				if err != nil {
					return err
				}
				for _, file := range files {
					embedded = append(embedded, below(file))
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return compiled, embedded
}

// matching returns the files that match a pattern, and those in folders that match it.
func matching(pattern string) (files []string, err error) {
	found, err := filepath.Glob(pattern)
	if err != nil {
		return nil, err
	}
	for _, name := range found {
		err := filepath.WalkDir(name, func(file string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				files = append(files, file)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}
