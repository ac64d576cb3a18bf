package main

import (
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"daawo/supabase/internal/database/server"
)

// The npm package's program postgres is compiled for size (pg_config: -Os). This file makes the
// same program for speed. Everything else stays the package's: libraries, modules, SQL.

// serverHeaders are the headers of the package's libraries that Postgres uses, by their names in
// sources.txt.
var serverHeaders = []string{"icu-headers", "openssl-headers", "libxml2-headers", "zlib-headers"}

// serverOptions are those of the package that change the program, and none of those that only add
// modules.
var serverOptions = []string{
	"--prefix=/usr/local/pg-build", "--with-icu", "--with-libxml", "--with-openssl", "--without-readline",
	"--disable-rpath",
}

// The program's places in a package and in the sources.
const (
	serverProgram = "native/bin/postgres"
	made          = "src/backend/postgres"
)

// hasServer reports whether a folder of extensions has a program postgres of its own.
func hasServer(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, serverProgram))
	return err == nil
}

// needServer returns an error that matches errUnable if this machine cannot make Postgres.
func needServer() error {
	for _, program := range []string{"bzip2", "make", "bison", "flex", "perl"} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("%w: needs more packages (apt-get install bzip2 make bison flex perl)", errUnable)
		}
	}
	return nil
}

// makeServer makes Postgres of its sources in from. For this machine's processor it does so twice:
// the first program counts which ways of its code typical statements take, and the second is
// compiled by these counts.
func (t *tools) makeServer(ctx context.Context, from, target string) error {
	include, err := t.unpackHeaders(ctx)
	if err != nil {
		return err
	}
	libraries := filepath.Join(t.options.postgres, "native/lib")
	if err := linkLibraries(libraries, filepath.Join(from, "link")); err != nil {
		return err
	}
	if err := useVersion(libraries, include); err != nil {
		return err
	}
	// configure keeps its arguments for pg_config: they name no folder of this machine.
	env := []string{
		"C_INCLUDE_PATH=" + include + ":" + include + "/x86_64-linux-gnu:" + include + "/libxml2",
		"LD_RUN_PATH=$ORIGIN/../lib",
		"ICU_CFLAGS= ", "ICU_LIBS=-licui18n -licuuc -licudata", "XML2_CFLAGS= ", "XML2_LIBS=-lxml2",
	}
	run := func(name string, args ...string) error {
		return command(ctx, from, "env", append(append(env, name), args...)...)
	}
	arguments := append([]string{
		"CC=" + filepath.Base(t.compiler), "CPPFLAGS=-D_FORTIFY_SOURCE=2", "CFLAGS=-O2 -fstack-protector-strong -w",
		"LDFLAGS=-s -Llink -L../../link -Wl,--as-needed,--allow-shlib-undefined,-z,relro,-z,now",
	}, serverOptions...)
	if t.platform != server.Platform() {
		arguments = append(arguments, "--host="+strings.TrimSuffix(filepath.Base(t.compiler), "-gcc"))
	}
	if err := run("./configure", arguments...); err != nil {
		return err
	}
	compile := func(flags string) error {
		jobs := "-j" + strconv.Itoa(runtime.NumCPU())
		for _, step := range []string{"backend generated-headers", "port all", "common all", "backend all"} {
			dir, goal, _ := strings.Cut(step, " ")
			if err := run("make", "-s", jobs, "-C", "src/"+dir, goal, "PROFILE="+flags); err != nil {
				return fmt.Errorf("make %s: %w", step, err)
			}
		}
		return nil
	}
	flags := ""
	if t.platform == server.Platform() { // a program for another processor cannot run here
		if flags, err = t.profile(ctx, from, compile); err != nil {
			return err
		}
	}
	if err := compile(flags); err != nil {
		return err
	}
	program := filepath.Join(from, made)
	if err := t.checkServer(program); err != nil {
		return err
	}
	dir := filepath.Dir(filepath.Join(target, serverProgram))
	return errors.Join(os.MkdirAll(dir, 0o755), copyAll(dir, program))
}

// profile compiles Postgres so that it counts, runs it, and removes it. It returns the flags with
// which the compiler uses the counts.
func (t *tools) profile(ctx context.Context, from string, compile func(flags string) error) (string, error) {
	counts := filepath.Join(t.archive.dir, "profile")
	if err := compile("-fprofile-generate=" + counts + " -fprofile-update=prefer-atomic"); err != nil {
		return "", err
	}
	if err := t.train(ctx, filepath.Join(from, made), counts); err != nil {
		return "", fmt.Errorf("run Postgres for its profile: %w", err)
	}
	if found, err := filepath.Glob(counts + "/*execMain.gcda"); err != nil || len(found) != 1 {
		return "", fmt.Errorf("the run of Postgres left no profile in %s", counts)
	}
	// What did not run is compiled as without a profile, not for size.
	return "-fprofile-use=" + counts + " -fprofile-correction -fprofile-partial-training -Wno-missing-profile",
		removeObjects(filepath.Join(from, "src"))
}

// removeObjects removes what make compiled. Its own target clean removes generated headers too.
func removeObjects(dir string) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		ext := filepath.Ext(path)
		if err != nil || entry.IsDir() || ext != ".o" && ext != ".a" && entry.Name() != "objfiles.txt" &&
			entry.Name() != filepath.Base(made) {
			return err
		}
		return os.Remove(path)
	})
}

// unpackHeaders unpacks all headers into one folder, which it returns.
func (t *tools) unpackHeaders(ctx context.Context) (string, error) {
	all := filepath.Join(t.archive.dir, "server-headers")
	for _, name := range serverHeaders {
		dir, _, err := t.archive.unpack(ctx, name, t.platform)
		if err != nil {
			return "", err
		}
		if err := os.CopyFS(all, os.DirFS(filepath.Join(dir, "usr/include"))); err != nil {
			return "", err
		}
	}
	return all, nil
}

// linkLibraries makes the names in dir by which the linker finds the package's libraries.
func linkLibraries(libraries, dir string) error {
	libraries, err := filepath.Abs(libraries)
	if err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	for _, name := range []string{"icui18n", "icuuc", "icudata", "ssl", "crypto", "xml2", "z"} {
		library, err := findLibrary(libraries, name)
		if err != nil {
			return err
		}
		if err := os.Symlink(library, filepath.Join(dir, "lib"+name+".so")); err != nil {
			return err
		}
	}
	return nil
}

// findLibrary returns the file of a library of the package.
func findLibrary(libraries, name string) (string, error) {
	found, err := filepath.Glob(filepath.Join(libraries, "lib"+name+".so.*"))
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("the package of Postgres has no lib%s", name)
	}
	if err != nil {
		return "", err
	}
	return found[0], nil
}

// icuVersion matches the lines of ICU's headers that name its version, which is a part of the names
// of all functions.
var icuVersion = regexp.MustCompile(`(?m)^(#define U_ICU_VERSION_(?:SUFFIX|MAJOR_NUM) _?)[0-9]+`)

// useVersion makes ICU's headers those of the package's ICU. The functions that Postgres calls are
// in all versions since ICU 50.
func useVersion(libraries, include string) error {
	library, err := findLibrary(libraries, "icuuc")
	if err != nil {
		return err
	}
	version, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(library), "libicuuc.so."), ".")
	file := filepath.Join(include, "unicode/uvernum.h")
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	text = icuVersion.ReplaceAll(text, []byte("${1}"+version))
	if !bytes.Contains(text, []byte("VERSION_SUFFIX _"+version)) {
		return fmt.Errorf("%s does not name ICU's version", filepath.Base(file))
	}
	return os.WriteFile(file, text, 0o644)
}

// checkServer returns an error if the program has not the libraries of the package's or needs a
// newer glibc than allowed.
func (t *tools) checkServer(made string) error {
	libraries, symbols, err := readModule(made)
	if err != nil {
		return err
	}
	packaged, _, err := readModule(t.postgres)
	if err != nil {
		return err
	}
	for _, name := range packaged {
		of, _, _ := strings.Cut(name, ".")
		if slices.Contains([]string{"libicui18n", "libssl", "libxml2"}, of) && !slices.Contains(libraries, name) {
			return fmt.Errorf("the program does not use the package's %s", name)
		}
	}
	for _, s := range symbols {
		if version, ok := strings.CutPrefix(s.Version, "GLIBC_"); ok && s.Section == elf.SHN_UNDEF && t.glibc != "" &&
			newer(version, t.glibc) {
			return fmt.Errorf("%w: this compiler makes a program that needs %s (%s)", errUnable, s.Version, s.Name)
		}
	}
	return nil
}
