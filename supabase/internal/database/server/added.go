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

// AddExtension adds the extension of a folder or of a Debian package to an installation. A new
// server with its files must load it first. It returns the names of the extensions.
func AddExtension(ctx context.Context, o Options, data, from string) (names []string, err error) {
	if _, ok := o.Source.(*Home); ok {
		return nil, errors.New("with POSTGRES_HOME, install the extension there")
	}
	work, err := os.MkdirTemp("", "extension-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work)
	if strings.HasSuffix(from, ".deb") {
		unpacked := filepath.Join(work, "package")
		if out, err := exec.CommandContext(ctx, "dpkg-deb", "-x", from, unpacked).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("unpack %s with dpkg-deb: %w: %s", from, err, strings.TrimSpace(string(out)))
		}
		from = unpacked
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
	names, libraries, err := stage(from, staged)
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

// stage copies the files of extensions below from into a folder with the layout of a package. The
// role postgres may create them.
func stage(from, target string) (names, libraries []string, err error) {
	for _, dir := range []string{libraryFolder, controlFolder} {
		if err := os.MkdirAll(filepath.Join(target, dir), 0o755); err != nil {
			return nil, nil, err
		}
	}
	err = filepath.WalkDir(from, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		base, more, dir := d.Name(), "", controlFolder
		switch {
		case strings.HasSuffix(base, ".control"):
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
	})
	if err == nil && len(names) == 0 {
		err = fmt.Errorf("%s has no control file of an extension", from)
	}
	return names, libraries, err
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

// RemoveExtension removes an added extension from an installation.
func RemoveExtension(data, name string) error {
	dir := AddedDir(data)
	control := filepath.Join(dir, controlFolder, name+".control")
	if _, err := os.Stat(control); err != nil || strings.ContainsAny(name, "/*?[") {
		return fmt.Errorf("the extension %s was not added to %s", name, data)
	}
	scripts, err := filepath.Glob(filepath.Join(dir, controlFolder, name+"--*.sql"))
	for _, file := range append(scripts, control) {
		err = errors.Join(err, os.Remove(file))
	}
	library := os.Remove(filepath.Join(dir, libraryFolder, name+".so"))
	if errors.Is(library, fs.ErrNotExist) {
		library = nil
	}
	return errors.Join(err, library, ListExtensions(dir))
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
