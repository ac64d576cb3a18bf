package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// postgisTools has the stand-ins for what PostGIS' build takes from an installed Postgres.
//
//go:embed postgis
var postgisTools embed.FS

// postgisPackages are Debian's packages that make PostGIS.
const postgisPackages = "g++ make pkg-config perl libgeos-dev libproj-dev libxml2-dev libjson-c-dev " +
	"libprotobuf-c-dev protobuf-c-compiler libpq-dev"

// postgisOptions leave out what Supabase projects do not use by the name postgis, and what needs
// more libraries.
var postgisOptions = []string{
	"--without-raster", "--without-topology", "--without-gui", "--disable-nls", "--without-interrupt-tests",
	"--without-address-standardizer", "--without-tiger", "--without-phony-revision",
}

// needPostGIS returns an error that matches errUnable if this machine cannot make PostGIS. The
// result needs the libraries of the machine that makes it, so archives for others have none.
func (t *tools) needPostGIS(ctx context.Context) error {
	missing := fmt.Errorf("%w: needs more packages (apt-get install %s)", errUnable, postgisPackages)
	for _, program := range []string{"g++", "make", "pkg-config", "perl", "protoc-c"} {
		if _, err := exec.LookPath(program); err != nil {
			return missing
		}
	}
	libraries := []string{"--exists", "geos", "proj", "libxml-2.0", "json-c", "libprotobuf-c", "libpq"}
	if command(ctx, t.archive.dir, "pkg-config", libraries...) != nil {
		return missing
	}
	return nil
}

// makePostGIS makes PostGIS of its sources in from.
func (t *tools) makePostGIS(ctx context.Context, from, target string) error {
	helpers := filepath.Join(t.archive.dir, "postgis-tools")
	files, err := fs.Sub(postgisTools, "postgis")
	if err == nil {
		err = os.CopyFS(helpers, files)
	}
	if err == nil {
		err = os.Chmod(filepath.Join(helpers, "pg_config"), 0o755)
	}
	if err != nil {
		return err
	}
	variable := func(name string) (string, error) {
		text, err := output(ctx, from, "pkg-config", "--variable="+name, "libpq")
		return strings.TrimSpace(text), err
	}
	include, err1 := variable("includedir")
	libraries, err2 := variable("libdir")
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	set := []string{
		"HEADERS=" + t.headers, "LIBPQ=" + include, "LIBRARIES=" + libraries,
		"CPPFLAGS=-I" + t.headers,
	}
	run := func(name string, args ...string) error {
		return command(ctx, from, "env", append(append(set, name), args...)...)
	}
	configure := append([]string{"--with-pgconfig=" + filepath.Join(helpers, "pg_config")}, postgisOptions...)
	if err := run("./configure", configure...); err != nil {
		return err
	}
	version, err := os.ReadFile(filepath.Join(from, "Version.config"))
	if err != nil {
		return err
	}
	script := "sql/postgis--" + postgisVersion(string(version)) + ".sql"
	jobs := "-j" + strconv.Itoa(runtime.NumCPU())
	for _, step := range [][]string{
		{"liblwgeom"}, {"libpgcommon"}, {"deps/flatgeobuf"}, {"deps/wagyu"}, {"postgis"},
		{"extensions/postgis", script, "postgis.control"},
	} {
		if err := run("make", append([]string{jobs, "-C"}, step...)...); err != nil {
			return fmt.Errorf("make %s: %w", step[0], err)
		}
	}
	return errors.Join(copyAll(filepath.Join(target, library), filepath.Join(from, "postgis/postgis-3.so")),
		copyAll(filepath.Join(target, share), filepath.Join(from, "extensions/postgis", script)),
		copyAll(filepath.Join(target, share), filepath.Join(from, "extensions/postgis/postgis.control")))
}

// postgisVersion returns the version in PostGIS' file of it.
func postgisVersion(text string) string {
	var parts []string
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		switch name {
		case "POSTGIS_MAJOR_VERSION", "POSTGIS_MINOR_VERSION", "POSTGIS_MICRO_VERSION":
			parts = append(parts, value)
		}
	}
	return strings.Join(parts, ".")
}
