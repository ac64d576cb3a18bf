package deno

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"daawo/supabase/internal/functions/jail"
)

// visible returns the files and folders that the processes of functions may read, besides their
// own. Imports may lead anywhere in a project. private are folders of the server.
func (s *set) visible(private []string) []string {
	if s.files != "" {
		return []string{s.files}
	}
	hidden := make([]string, 0, len(private))
	for _, path := range private {
		if real, err := real(path); err == nil { // one that is missing has nothing to hide
			hidden = append(hidden, real)
		}
	}
	folder := filepath.Dir(s.root)
	if folder == string(filepath.Separator) {
		folder = s.root
	}
	return without(folder, filepath.Join(s.root, "functions"), hidden)
}

// without returns the content of a folder without private folders, and without names that begin
// with a dot, as .env and .git. Of the folders below it, it looks only into those that lead to open
// or to a private one.
func without(folder, open string, private []string) (list []string) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil // the functions cannot read it either
	}
	for _, e := range entries {
		path := filepath.Join(folder, e.Name())
		real, err := real(path)
		if err != nil || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		switch {
		case slices.ContainsFunc(private, func(p string) bool { return jail.Below(p, real) }):
		case jail.Below(path, open), slices.ContainsFunc(private, func(p string) bool { return jail.Below(real, p) }):
			list = append(list, without(path, open, private)...)
		default:
			list = append(list, path)
		}
	}
	return list
}

// real returns the absolute path behind links.
func real(path string) (string, error) {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}
