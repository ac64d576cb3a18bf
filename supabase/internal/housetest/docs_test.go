package housetest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// page is a Markdown file of the repository. Its name is a path below the top folder.
type page struct{ name, text string }

// pages returns all Markdown files.
func pages(t *testing.T) []page {
	t.Helper()
	top := root(t)
	var all []page
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		skipped := slices.Contains([]string{"node_modules", "testdata", "dist", "build", "bin"}, d.Name()) ||
			strings.HasPrefix(d.Name(), ".")
		if d.IsDir() && path != top && skipped {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".md") {
			return nil
		}
		name, err := filepath.Rel(top, path)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		all = append(all, page{filepath.ToSlash(name), string(text)})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 20 {
		t.Fatalf("found only %d pages", len(all))
	}
	return all
}

// fence matches a code block.
var fence = regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```")
