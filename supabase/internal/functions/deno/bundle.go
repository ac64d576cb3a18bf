package deno

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"daawo/supabase/internal/base/config"
	"daawo/supabase/internal/functions/jail"
)

// A bundle is one file: the program of the functions in Go, if there are any, and after it a ZIP
// archive of those in TypeScript with all modules that they import. A program runs with an archive
// behind it, and an archive is read from its end.
const (
	bundleComment = "functions in TypeScript, 1" // of the archive, with the version of its layout
	manifestFile  = "functions.json"
	filesFolder   = "files/" // the files of the project
	cacheFolder   = "cache/" // Deno's cache
)

// manifest describes the functions of an archive. Its paths are relative to filesFolder.
type manifest struct {
	Root      string            `json:"root"` // folder of config.toml
	Functions []Function        `json:"functions"`
	Registry  map[string]string `json:"registry"` // variables with the registries of the modules
}

// registryVariables are the variables whose values are part of the paths in Deno's cache.
var registryVariables = []string{"NPM_CONFIG_REGISTRY", "JSR_URL"}

// BundleOptions describe the functions of a project that become a bundle.
type BundleOptions struct {
	Root     string                     // folder of config.toml
	Settings map[string]config.Function // its sections [functions.NAME]
	NoCheck  bool                       // the types are not checked
	Dir      string                     // folder for temporary files
	Deno     func(context.Context) (string, error)
	Getenv   func(string) (string, bool)
}

// bundler makes a bundle.
type bundler struct {
	BundleOptions
	deno  string
	cache string
	files map[string]bool // absolute paths
}

// AddToBundle checks the types of a project's functions and adds the functions and all modules that
// they import to the end of a file. It returns their number. Without functions it leaves the file
// alone.
func AddToBundle(ctx context.Context, o BundleOptions, file string) (int, error) {
	root, err := filepath.Abs(o.Root)
	if err != nil {
		return 0, err
	}
	o.Root = root
	functions, err := ReadFunctions(o.Root, o.Settings)
	if err != nil || len(functions) == 0 {
		return 0, err
	}
	b := &bundler{BundleOptions: o, cache: filepath.Join(o.Dir, "cache"), files: map[string]bool{}}
	if b.deno, err = o.Deno(ctx); err != nil {
		return 0, err
	}
	for _, f := range functions {
		if err := f.check(); err != nil {
			return 0, err
		}
		if err := b.fetch(ctx, f); err != nil {
			return 0, fmt.Errorf("function %s: %w", f.Name, err)
		}
	}
	// before the check, which fetches types that no function needs when it runs
	archive := filepath.Join(o.Dir, "functions.zip")
	if err := b.pack(archive, functions); err != nil {
		return 0, err
	}
	if !o.NoCheck {
		if err := b.check(ctx, functions); err != nil {
			return 0, err
		}
	}
	return len(functions), appendFile(archive, file)
}

// run runs a command of Deno for a function and returns its output. The error of a command that
// fails is what it printed.
func (b *bundler) run(ctx context.Context, command string, f Function, args ...string) ([]byte, error) {
	args = slices.Concat([]string{command, "--quiet", "--no-lock", "--node-modules-dir=none", "--allow-import"},
		f.configuration(), args)
	cmd := exec.CommandContext(ctx, b.deno, args...)
	cmd.Dir, cmd.Env = f.dir(), tools(f, b.Root, b.cache, b.Getenv)
	var printed bytes.Buffer
	cmd.Stderr = &printed
	out, err := cmd.Output()
	if err != nil {
		if text := strings.TrimSpace(printed.String()); text != "" {
			return nil, errors.New(text)
		}
		return nil, fmt.Errorf("deno %s: %w", command, err)
	}
	return out, nil
}

// fetch fetches the modules that a function imports into the cache, and records its files.
// Functions are fetched one by one: Deno would choose other versions for several of them.
func (b *bundler) fetch(ctx context.Context, f Function) error {
	if _, err := b.run(ctx, "cache", f, f.Entrypoint); err != nil {
		return err
	}
	out, err := b.run(ctx, "info", f, "--json", f.Entrypoint)
	if err != nil {
		return err
	}
	var graph struct {
		Modules []struct{ Specifier, Error string }
	}
	if err := json.Unmarshal(out, &graph); err != nil {
		return fmt.Errorf("deno info: %w", err)
	}
	for _, m := range graph.Modules {
		if u, err := url.Parse(m.Specifier); err == nil && u.Scheme == "file" && m.Error == "" {
			b.files[filepath.FromSlash(u.Path)] = true
		}
	}
	for path := range f.stateOf(b.Root) {
		if !strings.HasPrefix(filepath.Base(path), ".env") { // secrets stay here
			b.files[path] = true
		}
	}
	return nil
}

// check checks the types of the functions, those with the same configuration together.
func (b *bundler) check(ctx context.Context, functions []Function) error {
	alike := map[string][]Function{}
	var keys []string
	for _, f := range functions {
		key := strings.Join(append(f.configuration(), tools(f, b.Root, b.cache, b.Getenv)...), "\n")
		if isFile(filepath.Join(f.dir(), "package.json")) {
			key += "\n" + f.dir()
		}
		if alike[key] == nil {
			keys = append(keys, key)
		}
		alike[key] = append(alike[key], f)
	}
	var problems []error
	for _, key := range keys {
		var mains []string
		for _, f := range alike[key] {
			mains = append(mains, f.Entrypoint)
		}
		if _, err := b.run(ctx, "check", alike[key][0], mains...); err != nil {
			problems = append(problems, err)
		}
	}
	return errors.Join(problems...)
}

// pack writes the archive of the functions.
func (b *bundler) pack(archive string, functions []Function) (err error) {
	base := b.Root
	for file := range b.files {
		for !jail.Below(base, file) {
			base = filepath.Dir(base)
		}
	}
	relative := func(name string) string {
		if name == "" {
			return ""
		}
		rel, _ := filepath.Rel(base, name) // both are absolute
		return filepath.ToSlash(rel)
	}
	m := manifest{Root: relative(b.Root), Registry: map[string]string{}}
	for _, f := range functions {
		f.Entrypoint, f.ImportMap = relative(f.Entrypoint), relative(f.ImportMap)
		f.Static = slices.Clone(f.Static)
		for i, pattern := range f.Static {
			f.Static[i] = relative(pattern)
		}
		m.Functions = append(m.Functions, f)
	}
	for _, name := range registryVariables {
		if v, ok := b.Getenv(name); ok && v != "" {
			m.Registry[name] = v
		}
	}
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	out, err := os.Create(archive)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	z := zip.NewWriter(out)
	if err := z.SetComment(bundleComment); err != nil {
		return err
	}
	if err := add(z, manifestFile, bytes.NewReader(text)); err != nil {
		return err
	}
	for file := range b.files {
		if err := b.addFile(z, filesFolder+relative(file), file); err != nil {
			return err
		}
	}
	for _, folder := range []string{"npm", "remote"} {
		if err := b.addCache(z, filepath.Join(b.cache, folder)); err != nil {
			return err
		}
	}
	return z.Close()
}

// addFile adds a file of the project.
func (b *bundler) addFile(z *zip.Writer, name, file string) error {
	if filepath.Base(file) == ".npmrc" {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		return add(z, name, strings.NewReader(registriesOf(string(text))))
	}
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	return add(z, name, in)
}

// registriesOf returns the lines of a .npmrc that name registries. The tokens are not needed: all
// modules are in the bundle.
func registriesOf(text string) string {
	var kept strings.Builder
	for line := range strings.Lines(text) {
		if name, _, _ := strings.Cut(line, "="); strings.HasSuffix(strings.TrimSpace(name), "registry") {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

// addCache adds a folder of Deno's cache.
func (b *bundler) addCache(z *zip.Writer, folder string) error {
	err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(b.cache, path)
		if err != nil {
			return err
		}
		return b.addFile(z, cacheFolder+filepath.ToSlash(rel), path)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil // no function imports such modules
	}
	return err
}

func add(z *zip.Writer, name string, from io.Reader) error {
	to, err := z.Create(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return err
}

// appendFile appends one file to another.
func appendFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
