// Package project writes the files of a new project: the folder supabase/, and a Go module for edge
// functions that compiles without the repository of this program.
package project

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"text/template"

	"daawo/supabase/internal/functions/scaffold"
)

//go:embed template
var templates embed.FS

// Options say what to write.
type Options struct {
	Dir       string
	Force     bool  // replace an existing config.toml
	Functions bool  // add functions/ and its module
	Source    fs.FS // of the packages that functions need; see SourceDirs
}

// invalidID matches what a project_id must not contain, as in the official CLI.
var invalidID = regexp.MustCompile(`[^A-Za-z0-9_.-]+`)

// ID returns the project_id for a folder: its name with the characters that are allowed, 40 at
// most.
func ID(dir string) string {
	id := strings.TrimLeft(invalidID.ReplaceAllString(filepath.Base(dir), "_"), "_.-")
	if id == "" {
		return "project"
	}
	return id[:min(40, len(id))]
}

// Init writes the files and returns their names, relative to Dir. Of existing files it only
// replaces config.toml, with Force.
func Init(o Options) (written []string, err error) {
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, err
	}
	w := &writer{dir: dir}
	_, err = os.Stat(filepath.Join(dir, "supabase", "config.toml"))
	exists := err == nil
	switch {
	case exists && !o.Force && !o.Functions:
		return nil, fmt.Errorf("%s already exists; --force replaces it",
			filepath.Join(o.Dir, "supabase", "config.toml"))
	case !exists || o.Force:
		if err := w.supabase(exists); err != nil {
			return w.written, err
		}
	}
	if o.Functions {
		if err := w.functions(o.Source); err != nil {
			return w.written, err
		}
	}
	return w.written, w.ignore(".daawo/")
}

// writer writes files below dir and records their names.
type writer struct {
	dir     string
	written []string
}

// write writes a file. An existing file stays, unless replace is set.
func (w *writer) write(name string, content []byte, replace bool) error {
	file := filepath.Join(w.dir, filepath.FromSlash(name))
	if _, err := os.Stat(file); err == nil && !replace {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(file, content, 0o644); err != nil {
		return err
	}
	w.written = append(w.written, name)
	return nil
}

// supabase writes the folder supabase/. The first migration is only for a project without any.
func (w *writer) supabase(exists bool) error {
	var config strings.Builder
	text, err := templates.ReadFile("template/config.toml")
	if err != nil {
		return err
	}
	if err := template.Must(template.New("").Parse(string(text))).Execute(&config,
		map[string]string{"ID": ID(w.dir)}); err != nil {
		return err
	}
	if err := w.write("supabase/config.toml", []byte(config.String()), true); err != nil {
		return err
	}
	files := map[string]string{"supabase.gitignore": "supabase/.gitignore", "seed.sql": "supabase/seed.sql"}
	if _, err := os.Stat(filepath.Join(w.dir, "supabase", "migrations")); errors.Is(err, fs.ErrNotExist) && !exists {
		files["migration.sql"] = "supabase/migrations/20260101000000_todos.sql"
	}
	for from, to := range files {
		content, err := templates.ReadFile("template/" + from)
		if err != nil {
			return err
		}
		if err := w.write(to, content, false); err != nil {
			return err
		}
	}
	return nil
}

// ignore adds a line to .gitignore if it is missing.
func (w *writer) ignore(line string) error {
	name := filepath.Join(w.dir, ".gitignore")
	old, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for present := range strings.Lines(string(old)) {
		if strings.Trim(present, "/\r\n ") == strings.Trim(line, "/") {
			return nil
		}
	}
	text := string(old)
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return w.write(".gitignore", []byte(text+line+"\n"), true)
}

// Vendored is the folder of the packages that functions need, with a module of their own.
const Vendored = "third_party/daawo"

// functions writes the module, the registry, a first function and the packages that they need.
// Packages of an earlier release are replaced.
func (w *writer) functions(source fs.FS) error {
	if source == nil {
		return errors.New("this program does not carry the source of package edge")
	}
	if _, err := os.Stat(filepath.Join(w.dir, "functions", "functions.go")); err == nil {
		return w.vendor(source) // an existing project gets the packages of this release
	}
	if err := w.vendor(source); err != nil {
		return err
	}
	requirements, err := requirements(source)
	if err != nil {
		return err
	}
	sums, err := fs.ReadFile(source, "go.sum")
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(w.dir, "go.mod")); err == nil {
		return fmt.Errorf("%s already exists: add `require daawo v0.0.0` and `replace daawo => ./%s` to it, and the file functions/functions.go",
			filepath.Join(w.dir, "go.mod"), Vendored)
	}
	module := moduleName(w.dir)
	mod := fmt.Sprintf("module %s\n\ngo %s\n\nrequire daawo v0.0.0\n\nreplace daawo => ./%s\n\nrequire (\n%s)\n",
		module, goVersion(source), Vendored, requirements)
	if err := w.write("go.mod", []byte(mod), false); err != nil {
		return err
	}
	if err := w.write("go.sum", sums, false); err != nil {
		return err
	}
	registry, err := templates.ReadFile("template/functions.go.txt")
	if err != nil {
		return err
	}
	if err := w.write("functions/functions.go", registry, false); err != nil {
		return err
	}
	files, err := scaffold.New(w.dir, "hello")
	w.written = append(w.written, files...)
	return err
}

// moduleName returns the path of the module of the functions. Nothing imports it from elsewhere.
func moduleName(dir string) string {
	return "example.org/" + strings.ToLower(ID(dir))
}

// vendor writes the packages, without their tests.
func (w *writer) vendor(source fs.FS) error {
	if err := os.RemoveAll(filepath.Join(w.dir, filepath.FromSlash(Vendored))); err != nil {
		return err
	}
	direct, err := requirements(source)
	if err != nil {
		return err
	}
	mod := fmt.Sprintf("module daawo\n\ngo %s\n\nrequire (\n%s)\n", goVersion(source), direct)
	if err := w.write(Vendored+"/go.mod", []byte(mod), true); err != nil {
		return err
	}
	return fs.WalkDir(source, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if path.Base(name) == "testdata" {
				return fs.SkipDir
			}
			return nil
		}
		if strings.HasSuffix(name, "_test.go") || path.Dir(name) == "." {
			return nil
		}
		content, err := fs.ReadFile(source, name)
		if err != nil {
			return err
		}
		return w.write(Vendored+"/"+name, content, true)
	})
}

// modules lists the modules that the packages in the source import, directly or through others.
//
//go:embed modules.txt
var modules string

// requirements returns the lines of a require block for modules, with the versions of the source's
// go.mod.
func requirements(source fs.FS) (string, error) {
	mod, err := fs.ReadFile(source, "go.mod")
	if err != nil {
		return "", err
	}
	versions := map[string]string{}
	for line := range strings.Lines(string(mod)) {
		if words := strings.Fields(line); len(words) >= 2 && strings.HasPrefix(words[1], "v") {
			versions[words[0]] = words[1]
		}
	}
	var lines strings.Builder
	for module := range strings.FieldsSeq(modules) {
		if versions[module] == "" {
			return "", fmt.Errorf("go.mod has no version of %s", module)
		}
		fmt.Fprintf(&lines, "\t%s %s // indirect\n", module, versions[module])
	}
	return lines.String(), nil
}

// goVersion returns the version of Go in the source's go.mod.
func goVersion(source fs.FS) string {
	mod, _ := fs.ReadFile(source, "go.mod") // requirements has read it
	for line := range strings.Lines(string(mod)) {
		if version, ok := strings.CutPrefix(strings.TrimSpace(line), "go "); ok {
			return version
		}
	}
	return "1.26"
}
