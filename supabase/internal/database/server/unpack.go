package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"daawo/supabase/internal/database/extension"

	"golang.org/x/sync/errgroup"
)

// layout is the version of the unpacked form. Increase it when the form changes.
const layout = "7"

// Unpack unpacks the package below root and returns the folder that holds bin.
// It does nothing if the folder exists. Several processes may call it at once.
func Unpack(pkg fs.FS, root string) (string, error) {
	name, err := unpackedName(pkg)
	if err != nil {
		return "", err
	}
	dir, run, fill := filepath.Join(root, name), "", func(tmp string) error { return unpackInto(pkg, tmp) }
	if home, ok := pkg.(*Home); ok {
		run, fill = home.below(home.dir), home.fill
	}
	if _, err := os.Stat(dir); err == nil {
		return filepath.Join(dir, run), nil
	}
	err = os.MkdirAll(root, 0o755)
	if err != nil {
		return "", unwritable(root, err)
	}
	tmp, err := os.MkdirTemp(root, "unpack-")
	if err != nil {
		return "", unwritable(root, err)
	}
	defer os.RemoveAll(tmp)
	if err := errors.Join(fill(tmp), writeSessionLibrary(filepath.Join(tmp, run, "bin"))); err != nil {
		return "", explain("unpack Postgres into "+root, Options{Data: root}, err)
	}
	// MkdirTemp makes private folders, but Postgres' user must enter this one.
	if err := os.Chmod(tmp, 0o755); err != nil {
		return "", err
	}
	if err := os.Rename(tmp, dir); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("unpack Postgres: %w", err)
	}
	return filepath.Join(dir, run), nil
}

// unwritable is the error of a folder for unpacked packages in which this user cannot create files.
func unwritable(root string, err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return userErrorf(ErrNotTraversable,
			"unpack Postgres into %s: %v: set HOME to a folder where this user may write", root, err)
	}
	return explain("unpack Postgres into "+root, Options{Data: root}, err)
}

// unpackedName returns the name of the folder of the unpacked package.
func unpackedName(pkg fs.FS) (string, error) {
	if home, ok := pkg.(*Home); ok {
		return home.name()
	}
	name, err := packageName(pkg)
	if err != nil {
		return "", err
	}
	compiled, err := extensionsDigest(pkg)
	return "postgres-" + name + "-" + layout + "-" + extension.Version() + compiled, err
}

func unpackInto(pkg fs.FS, dir string) error {
	var g errgroup.Group
	g.SetLimit(4)
	err := walkNeeded(pkg, func(name string, mode fs.FileMode) error {
		target := filepath.Join(dir, filepath.FromSlash(strings.TrimPrefix(name, "native/")))
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		g.Go(func() error { return copyFile(pkg, name, target, mode) })
		return nil
	})
	if err := errors.Join(g.Wait(), err); err != nil {
		return err
	}
	return errors.Join(makeLinks(pkg, dir), trustExtensions(dir), writeOurs(filepath.Join(dir, extensionDir), false))
}

// extensionDir is the folder of control files below the unpacked package.
const extensionDir = "share/postgresql/extension"

// writeOurs writes our own extensions into a folder of control files, in place of files with the
// same name. An extension that steps back leaves the original there; with missing all of them do.
func writeOurs(dir string, missing bool) error {
	files, write := extension.Files(), []string{}
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		needed := extension.Requires(name)
		original := (missing || extension.StepsBack(name)) && hasControl(dir, extension.Name(name))
		if original || needed != "" && !hasControl(dir, needed) {
			return nil
		}
		write = append(write, name)
		return nil
	})
	for _, name := range write {
		target := filepath.Join(dir, name)
		if e := os.Remove(target); e != nil && !errors.Is(e, fs.ErrNotExist) {
			return e
		}
		err = errors.Join(err, copyFile(files, name, target, 0o644))
	}
	return err
}

// hasControl reports whether a folder of control files has an extension.
func hasControl(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, name+".control"))
	return err == nil
}

// trusted lists the extensions that the role postgres may create without being
// superuser, as in supabase/postgres. Postgres already trusts others, such as
// citext.
var trusted = []string{
	"autoinc", "bloom", "dblink", "dict_xsyn", "earthdistance", "insert_username", "moddatetime", "pg_buffercache",
	"pg_prewarm", "pg_stat_statements", "pg_walinspect", "pgrowlocks", "pgstattuple",
	"postgres_fdw", "refint", "sslinfo", "xml2",
}

// compiled lists more of them, which a package has only if the build could compile them.
var compiled = []string{"vector", "hypopg", "plpgsql_check", "pgtap", "postgis"}

// wrapperGrant lets the role that creates postgres_fdw make servers of it.
const wrapperGrant = "\ngrant usage on foreign data wrapper postgres_fdw to @extowner@ with grant option;\n"

func trustExtensions(dir string) error {
	names := slices.Clone(trusted)
	for _, name := range compiled {
		if hasControl(filepath.Join(dir, extensionDir), name) {
			names = append(names, name)
		}
	}
	for _, name := range names {
		if err := appendTo(filepath.Join(dir, extensionDir, name+".control"), "\ntrusted = true\n"); err != nil {
			return err
		}
	}
	return appendTo(filepath.Join(dir, extensionDir, "postgres_fdw--1.0.sql"), wrapperGrant)
}

func appendTo(file, text string) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// makeLinks creates the library symlinks. npm packages cannot contain symlinks,
// and the postinstall script that creates them may be disabled.
func makeLinks(pkg fs.FS, dir string) error {
	raw, err := fs.ReadFile(pkg, symlinksJSON)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	var links []struct{ Source, Target string }
	if err := json.Unmarshal(raw, &links); err != nil {
		return fmt.Errorf("%s: %w", symlinksJSON, err)
	}
	for _, l := range links {
		source, target := strings.TrimPrefix(l.Source, "native/"), strings.TrimPrefix(l.Target, "native/")
		if path.Dir(source) != path.Dir(target) || !fs.ValidPath(target) {
			return fmt.Errorf("%s: %s is not in the folder of %s", symlinksJSON, l.Target, l.Source)
		}
		target = filepath.Join(dir, filepath.FromSlash(target))
		if err := os.Symlink(path.Base(source), target); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

// walkNeeded visits the regular files that a server needs. It skips static
// libraries, headers and the files for building extensions.
func walkNeeded(pkg fs.FS, visit func(name string, mode fs.FileMode) error) error {
	return fs.WalkDir(pkg, "native", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch base := path.Base(name); {
		case d.IsDir() && (base == "pkgconfig" || base == "pgxs" || base == "include"):
			return fs.SkipDir
		case !d.Type().IsRegular(), path.Ext(base) == ".a", name == symlinksJSON:
			return nil
		}
		mode := fs.FileMode(0o644)
		if path.Dir(name) == "native/bin" {
			mode = 0o755
		}
		return visit(name, mode)
	})
}

func copyFile(pkg fs.FS, name, target string, mode fs.FileMode) error {
	src, err := pkg.Open(name)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.OpenFile(target, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	if _, err := io.Copy(dst, src); err != nil {
		dst.Close()
		return err
	}
	// The umask may have cleared mode bits that Postgres' user needs.
	return errors.Join(dst.Chmod(mode), dst.Close())
}
