package project

import (
	_ "embed"
	"fmt"
	"io/fs"
	"strings"
)

// modules lists the modules that the packages in the source import, directly or through others.
//
//go:embed modules.txt
var modules string

// module is the module of the stack.
type module struct {
	path         string
	goVersion    string
	requirements string // lines of a require block with modules
}

// readModule reads the go.mod of the source.
func readModule(source fs.FS) (module, error) {
	text, err := fs.ReadFile(source, "go.mod")
	if err != nil {
		return module{}, err
	}
	var m module
	versions := map[string]string{}
	for line := range strings.Lines(string(text)) {
		switch words := strings.Fields(line); {
		case len(words) < 2:
		case words[0] == "module":
			m.path = words[1]
		case words[0] == "go":
			m.goVersion = words[1]
		case strings.HasPrefix(words[1], "v"):
			versions[words[0]] = words[1]
		}
	}
	for needed := range strings.FieldsSeq(modules) {
		if versions[needed] == "" {
			return module{}, fmt.Errorf("go.mod has no version of %s", needed)
		}
		m.requirements += fmt.Sprintf("\t%s %s // indirect\n", needed, versions[needed])
	}
	return m, nil
}

// hasHost reports whether the path begins with a host, so that Go can download the module.
func (m module) hasHost() bool {
	host, _, _ := strings.Cut(m.path, "/")
	return strings.Contains(host, ".")
}

// advice says what a go.mod needs. version is "" if the packages are copied.
func (m module) advice(version string) string {
	if version != "" {
		return fmt.Sprintf("run `go get %s@%s`", m.path, version)
	}
	return fmt.Sprintf("add `require %[1]s v0.0.0` and `replace %[1]s => ./%[2]s` to it", m.path, Vendored)
}
