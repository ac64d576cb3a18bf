package server

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"daawo/supabase/internal/database/extension"
)

// Home is a Postgres of this machine, such as Debian's package. It can be the source of a server in
// place of the npm package.
type Home struct {
	fs.FS          // of the folder, for its readers; Unpack uses the paths below
	dir, lib, data string
	version        string
	distribution   string // "" for POSTGRES_HOME
}

// OpenHome returns the Postgres of POSTGRES_HOME, whose programs are in dir/bin.
func OpenHome(dir string) (*Home, error) {
	h, err := openHome(dir)
	if err != nil {
		return nil, fmt.Errorf("POSTGRES_HOME: %w", err)
	}
	return h, nil
}

// openHome finds the folders of libraries and of shared data where Debian's package, Postgres' own
// installation, the npm package and Supabase's archive have them.
func openHome(dir string) (*Home, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, userErrorf(ErrNoPackage, "%v", err)
	}
	out, err := exec.Command(filepath.Join(dir, "bin", "postgres"), "--version").Output()
	if err != nil {
		return nil, userErrorf(ErrNoPackage, "%s has no bin/postgres that runs here: %v", dir, err)
	}
	h := &Home{FS: os.DirFS(dir), dir: dir, version: strings.TrimSpace(string(out))}
	if !strings.Contains(h.version, " "+major+".") {
		return nil, userErrorf(ErrOtherVersion, "%s is %s, and this program needs %s", dir, h.version, major)
	}
	if h.data = firstWith(dir, "postgres.bki", "share/postgresql", "share",
		"../../../share/postgresql/"+major); h.data == "" {
		return nil, userErrorf(ErrNoPackage, "no postgres.bki for %s: is the package complete?", dir)
	}
	plpgsql := "plpgsql" + libraryEnding()
	if h.lib = firstWith(dir, plpgsql, "lib/postgresql", "lib"); h.lib == "" {
		return nil, userErrorf(ErrNoPackage, "no %s for %s: is the package complete?", plpgsql, dir)
	}
	return h, nil
}

// String returns the version of Postgres and its folder.
func (h *Home) String() string { return h.version + " in " + h.dir }

// firstWith returns the first of the folders below dir that has a file, or "".
func firstWith(dir, file string, folders ...string) string {
	for _, folder := range folders {
		folder = filepath.Join(dir, folder)
		if _, err := os.Stat(filepath.Join(folder, file)); err == nil {
			return folder
		}
	}
	return ""
}

// name returns the name of the folder that make fills. It changes with the programs and the
// extensions of the home.
func (h *Home) name() (string, error) {
	sum := sha256.New()
	fmt.Fprintln(sum, layout, h.dir, h.version, h.distribution)
	for _, folder := range []string{filepath.Join(h.data, "extension"), h.lib, filepath.Join(h.dir, "bin")} {
		entries, err := os.ReadDir(folder)
		if err != nil {
			return "", err
		}
		for _, e := range entries {
			info, err := e.Info()
			if err != nil {
				return "", err
			}
			fmt.Fprintln(sum, e.Name(), info.Size(), info.ModTime().UnixNano())
		}
	}
	return "postgres-home-" + hex.EncodeToString(sum.Sum(nil)[:6]) + "-" + extension.Version(), nil
}

// below returns a path of the home below the deepest folder that has its programs and its data.
// Postgres finds its data relative to its program, so a view of the home keeps these paths.
func (h *Home) below(path string) string {
	return strings.TrimPrefix(path, commonFolder(h.dir, h.data))
}

// fill fills dir with a view of the home: copies of the programs, links to the rest, and our own
// extensions beside the home's.
func (h *Home) fill(dir string) error {
	bin := filepath.Join(dir, h.below(filepath.Join(h.dir, "bin")))
	control := filepath.Join(dir, h.below(filepath.Join(h.data, "extension")))
	libraries := filepath.Join(dir, h.below(filepath.Dir(h.lib)))
	for _, folder := range []string{bin, control, libraries} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return err
		}
	}
	// The programs of Supabase's archive are scripts that start those with a dot.
	for _, program := range []string{"postgres", "initdb", ".postgres-wrapped", ".initdb-wrapped"} {
		err := copyFile(os.DirFS(h.dir), "bin/"+program, filepath.Join(bin, program), 0o755)
		if err != nil && (!strings.HasPrefix(program, ".") || !errors.Is(err, fs.ErrNotExist)) {
			return err
		}
	}
	err := errors.Join(linkEntries(h.data, filepath.Dir(control)), linkEntries(filepath.Join(h.data, "extension"), control),
		linkEntries(filepath.Dir(h.lib), libraries))
	if err != nil {
		return err
	}
	return h.addTo(control)
}

// linkEntries links the entries of a folder into another one, except those that it already has.
func linkEntries(from, to string) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, e := range entries {
		err := os.Symlink(filepath.Join(from, e.Name()), filepath.Join(to, e.Name()))
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

// addTo writes our extensions into a folder of control files, in place of links to the ones of the
// same name, such as pg_cron, whose jobs would need rights of a superuser; in Supabase's archive
// only missing ones. It lets the role postgres create the extensions that supabase/postgres lets it
// create.
func (h *Home) addTo(control string) error {
	official := h.distribution != ""
	trust := slices.Concat(trusted, compiled, trustedOfOthers)
	if official {
		for name, grants := range afterCreate {
			if hasControl(control, name) {
				trust = append(trust, name)
				if err := appendToScripts(control, name, grants); err != nil {
					return err
				}
			}
		}
	}
	if err := writeOurs(control, official); err != nil {
		return err
	}
	for _, name := range trust {
		if !hasControl(control, name) {
			continue
		}
		if err := appendToLink(filepath.Join(control, name+".control"), "\ntrusted = true\n"); err != nil {
			return err
		}
	}
	return appendToLink(filepath.Join(control, "postgres_fdw--1.0.sql"), wrapperGrant)
}

// trustedOfOthers are extensions that only another Postgres has.
var trustedOfOthers = []string{
	"address_standardizer", "address_standardizer_data_us", "http", "pg_hashids", "pg_jsonschema", "pgaudit",
	"pgroonga", "pgrouting", "postgis_raster", "postgis_sfcgal", "postgis_tiger_geocoder",
	"postgis_topology", "rum",
}

// appendToLink replaces a link by a copy of its file with more text.
func appendToLink(file, text string) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return errors.Join(os.Remove(file), os.WriteFile(file, append(content, text...), 0o644))
}

// commonFolder returns the deepest folder that has both paths.
func commonFolder(a, b string) string {
	for !strings.HasPrefix(b+"/", strings.TrimSuffix(a, "/")+"/") {
		a = filepath.Dir(a)
	}
	return strings.TrimSuffix(a, "/")
}
