package server

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// The folders of an extension's files in a package.
const (
	libraryFolder = "native/lib/postgresql"
	controlFolder = "native/share/postgresql/extension"
)

// AddedDir returns the folder of an installation's added extensions. It has the layout of the npm
// package.
func AddedDir(data string) string { return filepath.Join(data, "extensions") }

// AddExtension adds the extensions of folders and Debian packages to an installation. A new server
// with their files must load them first. It returns the names of the extensions.
func AddExtension(ctx context.Context, o Options, data string, from ...string) (names []string, err error) {
	if _, ok := o.Source.(*Home); ok {
		return nil, errors.New("with POSTGRES_HOME, install the extension there")
	}
	work, err := os.MkdirTemp("", "extension-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work)
	folders := make([]string, len(from))
	for i, path := range from {
		if folders[i], err = unpackDeb(ctx, path, filepath.Join(work, strconv.Itoa(i))); err != nil {
			return nil, err
		}
	}
	target := AddedDir(data)
	staged := target + ".new"
	if err := os.RemoveAll(staged); err != nil {
		return nil, err
	}
	defer os.RemoveAll(staged)
	if err := os.CopyFS(staged, os.DirFS(target)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	names, libraries, err := stage(folders, staged)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		_, err := fs.Stat(o.Source, controlFolder+"/"+name+".control")
		if _, again := os.Stat(filepath.Join(target, controlFolder, name+".control")); err == nil && again != nil {
			return nil, fmt.Errorf("the embedded Postgres has the extension %s already", name)
		}
	}
	if err := ListExtensions(staged); err != nil {
		return nil, err
	}
	o.Source = union{os.DirFS(staged), o.Source}
	if err := tryExtensions(ctx, o, names, libraries); err != nil {
		return nil, err
	}
	return names, adopt(staged, target)
}

// unpackDeb unpacks a package of Debian into a new folder, which it returns. It returns a folder as
// it is.
func unpackDeb(ctx context.Context, path, into string) (string, error) {
	if !strings.HasSuffix(path, ".deb") {
		return path, nil
	}
	out, err := exec.CommandContext(ctx, "dpkg-deb", "-x", path, into).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("unpack %s with dpkg-deb: %w: %s", path, err, strings.TrimSpace(string(out)))
	}
	return into, nil
}

// adopt moves the files of the folder staged to target, the list last. Each file is replaced at
// once, so an interruption loses none of the extensions that were added before.
func adopt(staged, target string) error {
	err := filepath.WalkDir(staged, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == ExtensionsFile {
			return err
		}
		rel, err := filepath.Rel(staged, name)
		if err != nil {
			return err
		}
		to := filepath.Join(target, rel)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		return os.Rename(name, to)
	})
	if err != nil {
		return err
	}
	return os.Rename(filepath.Join(staged, ExtensionsFile), filepath.Join(target, ExtensionsFile))
}

// versioned matches the control file of a package of which Debian installs several versions. A link
// that dpkg does not unpack gives it the name of the extension.
var versioned = regexp.MustCompile(`^(.+)-[0-9]+\.control$`)

// stage copies the files of extensions below the folders into one with the layout of a package. The
// role postgres may create them.
func stage(folders []string, target string) (names, libraries []string, err error) {
	for _, dir := range []string{libraryFolder, controlFolder} {
		if err := os.MkdirAll(filepath.Join(target, dir), 0o755); err != nil {
			return nil, nil, err
		}
	}
	visit := func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		base, more, dir := d.Name(), "", controlFolder
		switch {
		case strings.HasSuffix(base, ".control"):
			base = versioned.ReplaceAllString(base, "$1.control")
			names, more = append(names, strings.TrimSuffix(base, ".control")), "\ntrusted = true\n"
		case strings.HasSuffix(base, ".sql") && strings.Contains(base, "--"):
		case strings.HasSuffix(base, ".so"):
			libraries, dir = append(libraries, strings.TrimSuffix(base, ".so")), libraryFolder
		default:
			return nil
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(target, dir, base), append(content, more...), 0o644)
	}
	for _, folder := range folders {
		if err := filepath.WalkDir(folder, visit); err != nil {
			return nil, nil, err
		}
	}
	if len(names) == 0 {
		return nil, nil, fmt.Errorf("%s has no control file of an extension", strings.Join(folders, ", "))
	}
	return names, libraries, nil
}

// tryExtensions loads the libraries and creates the extensions in a new server, which it removes.
// The error of a library names the symbol, the file or the glibc that is missing.
func tryExtensions(ctx context.Context, o Options, names, libraries []string) (err error) {
	dir, err := os.MkdirTemp("", "extension-trial-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil { // for the user that runs Postgres
		return err
	}
	o.Data, o.Port, o.Volatile = filepath.Join(dir, "data"), 0, true
	s, err := Start(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Stop(context.WithoutCancel(ctx))) }()
	conn, err := pgx.Connect(ctx, s.URL(Superuser))
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	for _, name := range libraries {
		if _, err := conn.Exec(ctx, fmt.Sprintf(`load '$libdir/%s'`, strings.ReplaceAll(name, "'", "''"))); err != nil {
			return fmt.Errorf("this Postgres cannot load the library %s: %w", name, err)
		}
	}
	for _, name := range names {
		if _, err := conn.Exec(ctx, `create extension if not exists `+pgx.Identifier{name}.Sanitize()+` cascade`); err != nil {
			return fmt.Errorf("this Postgres cannot create the extension %s: %w", name, err)
		}
	}
	return nil
}

// RemoveExtension removes an added extension from an installation. A library stays while another
// extension needs it.
func RemoveExtension(data, name string) error {
	dir := AddedDir(data)
	control := filepath.Join(dir, controlFolder, name+".control")
	if _, err := os.Stat(control); err != nil || strings.ContainsAny(name, "/*?[") {
		return fmt.Errorf("the extension %s was not added to %s", name, data)
	}
	library, err := libraryOf(control)
	if err != nil {
		return err
	}
	scripts, err := filepath.Glob(filepath.Join(dir, controlFolder, name+"--*.sql"))
	for _, file := range append(scripts, control) {
		err = errors.Join(err, os.Remove(file))
	}
	others, e := AddedExtensions(data)
	err = errors.Join(err, e)
	needed := slices.ContainsFunc(others, func(other string) bool {
		of, e := libraryOf(filepath.Join(dir, controlFolder, other+".control"))
		err = errors.Join(err, e)
		return of == library
	})
	if !needed {
		if e := os.Remove(filepath.Join(dir, libraryFolder, library)); !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return errors.Join(err, ListExtensions(dir))
}

// modulePath matches the library in a control file.
var modulePath = regexp.MustCompile(`(?m)^\s*module_pathname\s*=\s*'(?:\$libdir/)?([^'/]+)'`)

// libraryOf returns the file of the library that a control file names, by default that of the
// extension's name.
func libraryOf(control string) (string, error) {
	text, err := os.ReadFile(control)
	if m := modulePath.FindSubmatch(text); m != nil {
		return strings.TrimSuffix(string(m[1]), ".so") + ".so", err
	}
	return strings.TrimSuffix(filepath.Base(control), ".control") + ".so", err
}

// AddedExtensions returns the names of the extensions that were added to an installation.
func AddedExtensions(data string) (names []string, err error) {
	files, err := filepath.Glob(filepath.Join(AddedDir(data), controlFolder, "*.control"))
	for _, file := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(file), ".control"))
	}
	return names, err
}

// ListExtensions writes the names and digests of the files of a folder of extensions into it. A
// package with another list is unpacked again.
func ListExtensions(dir string) error {
	var text strings.Builder
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || name == AbsentFile || name == ExtensionsFile {
			return err
		}
		content, err := os.ReadFile(filepath.Join(dir, name))
		fmt.Fprintf(&text, "%x  %s\n", sha256.Sum256(content), name)
		return err
	})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, ExtensionsFile), []byte(text.String()), 0o644)
}
