package deno

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"daawo/supabase/internal/base/config"
)

// Function is a function in TypeScript or JavaScript.
type Function struct {
	Name        string   `json:"name"`
	Entrypoint  string   `json:"entrypoint"`
	ImportMap   string   `json:"import_map,omitempty"` // import map or configuration of Deno, "" for none
	Static      []string `json:"static_files,omitempty"`
	NoVerifyJWT bool     `json:"no_verify_jwt,omitempty"`
}

var functionName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`) // as in the official CLI

// mainFiles are the names of a function's main file, the first existing one counts.
var mainFiles = []string{"index.ts", "index.tsx", "index.js", "index.jsx", "index.mjs"}

// ReadFunctions returns the enabled functions of a project, ordered by name. root is the folder of
// config.toml, settings are its sections [functions.NAME].
func ReadFunctions(root string, settings map[string]config.Function) ([]Function, error) {
	entries, err := os.ReadDir(filepath.Join(root, "functions"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		info, err := os.Stat(filepath.Join(root, "functions", e.Name())) // the entry may be a link
		if err == nil && info.IsDir() && functionName.MatchString(e.Name()) {
			names = append(names, e.Name())
		}
	}
	for name, s := range settings {
		if s.Entrypoint != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var list []Function
	for _, name := range names {
		s, set := settings[name]
		if set && !s.Enabled {
			continue
		}
		f, ok, err := readFunction(root, name, s)
		if err != nil {
			return nil, err
		}
		f.NoVerifyJWT = set && !s.VerifyJWT
		if ok {
			list = append(list, f)
		}
	}
	return list, nil
}

// readFunction returns a function, or false if its folder has no main file.
func readFunction(root, name string, s config.Function) (f Function, ok bool, err error) {
	if !functionName.MatchString(name) {
		return f, false, fmt.Errorf("functions.%s: a name begins with a letter and has letters, digits, - and _ only",
			name)
	}
	dir := filepath.Join(root, "functions", name)
	f.Name = name
	if s.Entrypoint != "" {
		if f.Entrypoint = within(root, s.Entrypoint); !isFile(f.Entrypoint) {
			return f, false, fmt.Errorf("functions.%s.entrypoint: there is no file %s", name, s.Entrypoint)
		}
	} else if f.Entrypoint = firstFile(dir, mainFiles...); f.Entrypoint == "" {
		return f, false, nil
	}
	if s.ImportMap != "" {
		f.ImportMap = within(root, s.ImportMap) // may be missing: see check
	} else {
		f.ImportMap = cmp.Or(firstFile(dir, "deno.json", "deno.jsonc", "import_map.json"),
			firstFile(filepath.Join(root, "functions"), "import_map.json", "deno.json", "deno.jsonc"),
			firstFile(root, "deno.json", "deno.jsonc"))
	}
	for _, pattern := range s.StaticFiles {
		if _, err := filepath.Match(pattern, ""); err != nil {
			return f, false, fmt.Errorf("functions.%s.static_files: %q is not a pattern", name, pattern)
		}
		f.Static = append(f.Static, within(root, pattern))
	}
	return f, true, nil
}

// check returns the error of a function that cannot start, because its import map is missing. The
// others of its project can.
func (f Function) check() error {
	if f.ImportMap == "" || isFile(f.ImportMap) {
		return nil
	}
	return fmt.Errorf("functions.%s.import_map: there is no file %s", f.Name, f.ImportMap)
}

// within returns a path of config.toml below root.
func within(root, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(root, filepath.FromSlash(name))
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// firstFile returns the first of names that is a file in dir, "" for none.
func firstFile(dir string, names ...string) string {
	for _, name := range names {
		if file := filepath.Join(dir, name); isFile(file) {
			return file
		}
	}
	return ""
}

// dir returns the folder of the main file.
func (f Function) dir() string { return filepath.Dir(f.Entrypoint) }

// readable returns the files and folders that the function may read: its folder, the shared folders
// beside it, and its static files.
func (f Function) readable(root string) []string {
	paths := []string{f.dir()}
	shared, _ := filepath.Glob(filepath.Join(root, "functions", "_*")) // the pattern is valid
	paths = append(paths, shared...)
	for _, pattern := range f.Static {
		files, _ := filepath.Glob(pattern) // ReadFunctions has checked it
		paths = append(paths, files...)
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// state is a fingerprint of the files that a function consists of. It changes with them.
type state map[string]fileState

type fileState struct {
	size     int64
	modified time.Time
}

// stateOf returns the state of the files that a function can import or read, without those of other
// functions.
func (f Function) stateOf(root string) state {
	s := state{}
	add := func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil // the start reports files that cannot be read
		case e.IsDir() && e.Name() == "node_modules":
			return fs.SkipDir
		case e.IsDir():
			return nil
		}
		if info, err := e.Info(); err == nil {
			s[path] = fileState{info.Size(), info.ModTime()}
		}
		return nil
	}
	paths := append(f.readable(root), f.ImportMap, filepath.Join(root, "functions", ".env"),
		filepath.Join(root, "functions", ".npmrc"))
	for _, path := range paths {
		if path != "" && !strings.HasPrefix(filepath.Base(path), "..") {
			_ = filepath.WalkDir(path, add) // add returns no error
		}
	}
	return s
}

// maxSource is the size of the largest file in which usesNode looks for imports, in bytes.
const maxSource = 1 << 20

// usesNode reports whether a function may import node:http, itself or by a package of npm. Deno
// needs 50 ms more to start with it.
func (f Function) usesNode(root string) bool {
	for name, s := range f.stateOf(root) {
		if filepath.Base(name) == "package.json" {
			return true
		}
		if s.size > maxSource || !importing.MatchString(name) {
			continue
		}
		text, err := os.ReadFile(name)
		if err == nil && (strings.Contains(string(text), "npm:") || strings.Contains(string(text), "node:")) {
			return true
		}
	}
	return false
}

// importing matches the names of files with imports and of import maps.
var importing = regexp.MustCompile(`\.([cm]?[jt]s|[jt]sx|jsonc?)$`)
