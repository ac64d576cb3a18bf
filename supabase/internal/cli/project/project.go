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
	Source    fs.FS // of the packages that functions need, with their go.mod and go.sum
	// Version returns the version of a module in this program, "" if Go cannot download it.
	Version func(module string) string
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
		if err := w.functions(o); err != nil {
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

// functions writes the module, the registry and a first function. The module requires a release of
// the stack's module, if it can be downloaded; otherwise the packages that functions need are
// written too. In a project with functions this program's packages replace the module's.
func (w *writer) functions(o Options) error {
	if o.Source == nil {
		return errors.New("this program does not carry the source of package edge")
	}
	stack, err := readModule(o.Source)
	if err != nil {
		return err
	}
	version := ""
	if stack.hasHost() {
		version = o.Version(stack.path)
	}
	download := version != ""
	_, err = os.Stat(filepath.Join(w.dir, "functions", "functions.go"))
	switch exists := err == nil; {
	case exists && download:
		return fmt.Errorf("%s has functions; `go get %s@%s` there moves them to this release", w.dir, stack.path,
			version)
	case exists:
		return w.vendor(o.Source, stack)
	}
	if _, err := os.Stat(filepath.Join(w.dir, "go.mod")); err == nil {
		return fmt.Errorf("%s already exists: %s, and add the file functions/functions.go",
			filepath.Join(w.dir, "go.mod"), stack.advice(version))
	}
	mod := fmt.Sprintf("module %s\n\ngo %s\n\nrequire %s %s\n", moduleName(w.dir), stack.goVersion, stack.path, version)
	if !download {
		if err := w.vendor(o.Source, stack); err != nil {
			return err
		}
		mod = fmt.Sprintf("module %s\n\ngo %s\n\nrequire %[3]s v0.0.0\n\nreplace %[3]s => ./%s\n\nrequire (\n%s)\n",
			moduleName(w.dir), stack.goVersion, stack.path, Vendored, stack.requirements)
		sums, err := fs.ReadFile(o.Source, "go.sum")
		if err != nil {
			return err
		}
		if err := w.write("go.sum", sums, false); err != nil {
			return err
		}
	}
	if err := w.write("go.mod", []byte(mod), false); err != nil {
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

// vendor writes the packages, without their tests. Those of an earlier release are replaced.
func (w *writer) vendor(source fs.FS, stack module) error {
	if err := os.RemoveAll(filepath.Join(w.dir, filepath.FromSlash(Vendored))); err != nil {
		return err
	}
	mod := fmt.Sprintf("module %s\n\ngo %s\n\nrequire (\n%s)\n", stack.path, stack.goVersion, stack.requirements)
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
