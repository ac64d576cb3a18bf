package main

import (
	"os"
	"path"
	"strings"
)

// ignore is a .dockerignore file. The last pattern that matches a path or one of its parent folders
// decides.
type ignore []pattern

type pattern struct {
	glob string // for path.Match; a leading **/ means at any depth
	keep bool   // the line began with !
}

func readIgnore(file string) (ignore, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var list ignore
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			glob, keep := strings.CutPrefix(line, "!")
			list = append(list, pattern{glob, keep})
		}
	}
	return list, nil
}

// hides reports whether a path of the context is excluded.
func (list ignore) hides(name string) bool {
	hidden := false
	for _, p := range list {
		if p.matches(name) {
			hidden = !p.keep
		}
	}
	return hidden
}

func (p pattern) matches(name string) bool {
	glob, anywhere := strings.CutPrefix(p.glob, "**/")
	parts := strings.Split(name, "/")
	for end := range parts {
		above := strings.Join(parts[:end+1], "/")
		if anywhere {
			above = parts[end]
		}
		if ok, _ := path.Match(glob, above); ok { // a bad pattern matches nothing
			return true
		}
	}
	return false
}
