package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"daawo/supabase/internal/database/server"

	"golang.org/x/sync/errgroup"
)

// recipe is how an extension is made of its sources.
type recipe struct {
	name    string
	sources []string // patterns of C files
	flags   []string // for the compiler
	scripts []string // patterns of SQL files that are taken as they are
	main    string   // the file that becomes NAME--VERSION.sql, unless scripts has it
	replace []string // pairs of text in main
	own     bool     // the sources are in modules/NAME of this package
	postgis bool     // made by its own build, for this machine only
	server  bool     // the program postgres, made by its own build
}

var recipes = []recipe{
	{
		name: "vector", sources: []string{"src/*.c"}, main: "sql/vector.sql", scripts: []string{"sql/vector--*--*.sql"},
		// Loops over vectors become vector instructions that each processor of the platform has.
		flags: []string{"-ftree-vectorize", "-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math"},
	},
	{name: "hypopg", sources: []string{"*.c", "import/*.c"}, scripts: []string{"hypopg--*.sql"}},
	{name: "plpgsql_check", sources: []string{"src/*.c"}, scripts: []string{"plpgsql_check--*.sql"}},
	{
		name: "pgtap", main: "sql/pgtap.sql.in",
		replace: []string{"MODULE_PATHNAME", "$libdir/pgtap", "__OS__", "linux", "__VERSION__", "1.3"},
	},
	{name: server.EventTriggers, sources: []string{"*.c"}, own: true},
	{name: "postgis", postgis: true},
	{name: "postgres", server: true},
}

// modules has the sources of libraries of this repository.
//
//go:embed modules
var modules embed.FS

// library and share are the folders of an extension's files in a package of Postgres, and their
// counterparts in a package of Debian.
const (
	library       = "native/lib/postgresql"
	share         = "native/share/postgresql/extension"
	debianLibrary = "usr/lib/postgresql/17/lib"
	debianShare   = "usr/share/postgresql/17/extension"
)

// tools are what an extension is made with.
type tools struct {
	options
	archive           *archive
	compiler, headers string
	postgres          string // the program that will load the extension
}

// make writes the extension into target, or nothing if it returns an error.
func (t *tools) make(ctx context.Context, r recipe, target string) (err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, removeAll(filepath.Join(target, library, r.name+"*.so")),
				removeAll(filepath.Join(target, share, r.name+"*")))
		}
	}()
	return t.write(ctx, r, target)
}

// removeAll removes the files of a pattern.
func removeAll(pattern string) error {
	files, err := filepath.Glob(pattern)
	for _, file := range files {
		err = errors.Join(err, os.Remove(file))
	}
	return err
}

// write writes the extension, compiled from its sources or from Debian's package.
func (t *tools) write(ctx context.Context, r recipe, target string) error {
	var err error
	switch {
	case r.postgis:
		err = t.needPostGIS(ctx)
	case r.server:
		err = needServer()
	}
	if err != nil {
		return err
	}
	from, compiled, err := t.sources(ctx, r)
	if err != nil {
		return err
	}
	if r.server {
		return t.makeServer(ctx, from, target)
	}
	for _, dir := range []string{library, share} {
		if err := os.MkdirAll(filepath.Join(target, dir), 0o755); err != nil {
			return err
		}
	}
	module := filepath.Join(target, library, r.name+".so")
	if compiled {
		err = copyAll(filepath.Join(target, share), filepath.Join(from, debianShare, r.name+"*"))
		if err == nil {
			err = copyAll(filepath.Join(target, library), filepath.Join(from, debianLibrary, r.name+".so"))
		}
	} else if r.postgis {
		module = filepath.Join(target, library, "postgis-3.so")
		err = t.makePostGIS(ctx, from, target)
	} else {
		if !r.own {
			err = r.copyScripts(from, filepath.Join(target, share))
		}
		if err == nil && len(r.sources) > 0 {
			err = t.compile(ctx, r, from, module)
		}
	}
	if err != nil || len(r.sources) == 0 && !r.postgis {
		return err
	}
	return t.check(ctx, module)
}

// sources returns a folder with the extension's sources, or with its compiled package.
func (t *tools) sources(ctx context.Context, r recipe) (dir string, compiled bool, err error) {
	if !r.own {
		return t.archive.unpack(ctx, r.name, t.platform)
	}
	dir = filepath.Join(t.archive.dir, r.name)
	own, err := fs.Sub(modules, "modules/"+r.name)
	if err != nil {
		return "", false, err
	}
	return dir, false, os.CopyFS(dir, own)
}

// compile compiles the sources in from to a module.
func (t *tools) compile(ctx context.Context, r recipe, from, module string) error {
	var files []string
	for _, pattern := range r.sources {
		found, err := filepath.Glob(filepath.Join(from, pattern))
		if err != nil {
			return err
		}
		files = append(files, found...)
	}
	flags := slices.Concat([]string{
		"-c", "-fPIC", "-O2", "-std=gnu11", "-w", "-D_GNU_SOURCE", "-fwrapv", "-fno-strict-aliasing",
		"-fexcess-precision=standard", "-fvisibility=hidden", "-ffile-prefix-map=" + from + "=.", "-I" + t.headers,
		"-I" + from, "-I" + filepath.Join(from, "include"),
	}, r.flags)
	// With -s Debian 11's linker drops the relocations of functions chosen by the processor.
	link := []string{"-shared", "-Wl,-x,-z,relro,-z,now,--as-needed", "-o", module}
	g, each := errgroup.WithContext(ctx)
	g.SetLimit(runtime.NumCPU())
	for _, file := range files {
		link = append(link, file+".o")
		g.Go(func() error {
			return command(each, from, t.compiler, slices.Concat(flags, []string{"-o", file + ".o", file})...)
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return command(ctx, from, t.compiler, append(link, "-lm")...)
}

// copyScripts writes the control file and the scripts into dir.
func (r recipe) copyScripts(from, dir string) error {
	for _, pattern := range append([]string{r.name + ".control"}, r.scripts...) {
		if err := copyAll(dir, filepath.Join(from, pattern)); err != nil {
			return err
		}
	}
	if r.main == "" {
		return nil
	}
	version, err := defaultVersion(filepath.Join(from, r.name+".control"))
	if err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(from, r.main))
	if err != nil {
		return err
	}
	script := strings.NewReplacer(r.replace...).Replace(string(text))
	return os.WriteFile(filepath.Join(dir, r.name+"--"+version+".sql"), []byte(script), 0o644)
}

// copyAll copies the files of a pattern into dir. A pattern without files is an error.
func copyAll(dir, pattern string) error {
	files, err := filepath.Glob(pattern)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("the source has no %s", filepath.Base(pattern))
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, filepath.Base(file)), content, 0o644)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// defaultVersion returns the default version of a control file.
func defaultVersion(file string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(text)) {
		if name, value, _ := strings.Cut(line, "="); strings.TrimSpace(name) == "default_version" {
			return strings.Trim(strings.TrimSpace(value), "'"), nil
		}
	}
	return "", fmt.Errorf("%s: no default_version", file)
}
