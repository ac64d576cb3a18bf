package deploy

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"daawo/supabase/internal/base/config"
	"daawo/supabase/internal/functions/deno"
	"daawo/supabase/internal/functions/host"
)

// denoOf returns the Deno that `npm ci` installs.
func denoOf(t *testing.T) func(context.Context) (string, error) {
	t.Helper()
	found, _ := filepath.Glob("../../../../node_modules/@deno/" + runtime.GOOS + "-*/deno") // a valid pattern
	if len(found) == 0 {
		t.Fatal("node_modules has no Deno: run `npm ci`")
	}
	program, err := filepath.Abs(found[0])
	return func(context.Context) (string, error) { return program, err }
}

// moduleServer serves the package tiny of npm, and a module. Its Close is the loss of the network.
func moduleServer(t *testing.T) *httptest.Server {
	t.Helper()
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	files := tar.NewWriter(zip)
	var err error
	for name, text := range map[string]string{
		"package/package.json": `{"name":"tiny","version":"1.0.0","main":"index.js"}`,
		"package/index.js":     `exports.tiny = "tiny";`,
	} {
		err = errors.Join(err, files.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text))}))
		_, failed := files.Write([]byte(text))
		err = errors.Join(err, failed)
	}
	if err := errors.Join(err, files.Close(), zip.Close()); err != nil {
		t.Fatal(err)
	}
	sum := sha512.Sum512(packed.Bytes())
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/npm/tiny":
			fmt.Fprintf(w, `{"name":"tiny","dist-tags":{"latest":"1.0.0"},"versions":{"1.0.0":{"name":"tiny",
				"version":"1.0.0","dist":{"tarball":"http://%s/npm/tiny.tgz","integrity":"sha512-%s"}}}}`,
				r.Host, base64.StdEncoding.EncodeToString(sum[:]))
		case "/npm/tiny.tgz":
			_, _ = w.Write(packed.Bytes())
		case "/remote.ts":
			_, _ = w.Write([]byte("export const remote: string = 'remote';"))
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// scripts is a project with functions in TypeScript.
type scripts struct {
	t       *testing.T
	root    string
	modules *httptest.Server
}

// newScripts returns a project whose function hello uses everything that a bundle must contain.
func newScripts(t *testing.T) *scripts {
	t.Helper()
	parent := os.TempDir()
	if strings.HasPrefix(parent, "/dev/") {
		parent = "/tmp" // Deno lets no program with limited permissions read files below /dev
	}
	home, err := os.MkdirTemp(parent, "scripts-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	s := &scripts{t: t, root: filepath.Join(home, "supabase"), modules: moduleServer(t)}
	s.write("functions/_shared/shared.ts", `export const shared = "shared";`)
	s.write("../outside/outside.ts", `export const outside = "outside";`)
	s.write("functions/hello/deno.json", `{"imports":{"tiny":"npm:tiny@1"}}`)
	s.write("functions/hello/own.txt", "own")
	s.write("functions/hello/.env.local", "SECRET=never")
	s.write("functions/.npmrc", "registry="+s.modules.URL+"/npm/\n//example.org/:_authToken=never\n")
	s.hello("first")
	return s
}

func (s *scripts) write(name, text string) {
	s.t.Helper()
	write(s.t, filepath.Join(s.root, filepath.FromSlash(name)), text)
}

// hello writes the function hello.
func (s *scripts) hello(version string) {
	s.write("functions/hello/index.ts", fmt.Sprintf(`
import { remote } from "%s/remote.ts";
import { tiny } from "tiny";
import { shared } from "../_shared/shared.ts";
import { outside } from "../../../outside/outside.ts";
const own = await Deno.readTextFile(new URL("own.txt", import.meta.url));
Deno.serve(() => Response.json("%s " + [remote, tiny, shared, outside, own].join(" ")));
`, s.modules.URL, version))
}

// bundle returns a bundle of the functions behind a program, which may be empty.
func (s *scripts) bundle(program []byte) ([]byte, error) {
	file := filepath.Join(s.t.TempDir(), "bundle")
	if err := os.WriteFile(file, program, 0o600); err != nil {
		return nil, err
	}
	_, err := deno.AddToBundle(s.t.Context(), deno.BundleOptions{
		Root: s.root, Settings: map[string]config.Function{"hello": {Enabled: true}, "other": {Enabled: true}},
		Dir: s.t.TempDir(), Deno: denoOf(s.t), Getenv: func(string) (string, bool) { return "", false },
	}, file)
	if err != nil {
		return nil, err
	}
	return os.ReadFile(file)
}

// mustBundle is bundle without an error.
func (s *scripts) mustBundle(program []byte) []byte {
	s.t.Helper()
	content, err := s.bundle(program)
	if err != nil {
		s.t.Fatal(err)
	}
	return content
}

// service serves functions in TypeScript, of bundles only.
func (s *scripts) service(folder string) *deno.Service {
	log := slog.New(slog.DiscardHandler)
	none := func(string) (string, bool) { return "", false }
	service, err := deno.New(deno.Options{
		Versions: folder, Cache: filepath.Join(s.t.TempDir(), "deno"), Deno: denoOf(s.t), Getenv: none, Log: log, Taken: func(string) error { return nil },
		Vars: func() (map[string]string, error) { return map[string]string{}, nil },
	}, host.Options{Log: log})
	if err != nil {
		s.t.Fatal(err)
	}
	return service
}

// withScripts returns a server that has deployed none, without the function hello in Go.
func withScripts(t *testing.T, s *scripts) *deployServer {
	t.Helper()
	d := &deployServer{t: t, dir: t.TempDir(), memory: 256 << 20, scripts: s}
	d.versions = filepath.Join(filepath.Dir(s.root), "versions")
	d.begin()
	return d
}

// TestDeployTypeScript deploys functions in TypeScript during calls, rolls back, and restarts on a
// data folder that has only what a backup contains, all without a network.
func TestDeployTypeScript(t *testing.T) {
	t.Parallel()
	s := newScripts(t)
	d := withScripts(t, s)
	first := s.mustBundle(nil)
	if bytes.Contains(first, []byte("never")) { // small files are stored as they are
		t.Error("the bundle contains a secret")
	}
	s.hello("second")
	second := s.mustBundle(nil)
	s.modules.Close()

	const rest = " remote tiny shared outside own"
	v, err := d.Deploy(t.Context(), bytes.NewReader(first), "first", false)
	if err != nil {
		t.Fatal(err)
	}
	if len(v.Functions) != 1 || v.Functions[0].Language != "TypeScript" {
		t.Errorf("%+v", v)
	}
	d.is("first" + rest)
	ctx, stop := context.WithCancel(t.Context())
	var load sync.WaitGroup
	for range 3 {
		load.Go(func() {
			for ctx.Err() == nil {
				if got := d.get("/hello"); !strings.HasPrefix(got, "200 ") {
					t.Errorf("a call was dropped: %s", got)
					return
				}
			}
		})
	}
	if _, err := d.Deploy(t.Context(), bytes.NewReader(second), "second", false); err != nil {
		t.Error(err)
	}
	d.is("second" + rest)
	if v, err := d.Rollback(t.Context(), "", false); err != nil || v.ID != "1" {
		t.Errorf("rollback: %v %v", v, err)
	}
	d.is("first" + rest)
	stop()
	load.Wait()
	if err := errors.Join(d.Close(t.Context()), d.service.Close(t.Context()), os.RemoveAll(d.versions)); err != nil {
		t.Fatal(err)
	}
	d.open()
	d.is("first" + rest)
	testKeptScripts(t, d, second)
}

// testKeptScripts deploys until the first version is deleted, and rolls back to none.
func testKeptScripts(t *testing.T, d *deployServer, second []byte) {
	t.Helper()
	if id, inGo := d.Functions(); id != "1" || len(inGo) != 0 || len(d.service.List()) != 1 {
		t.Errorf("version %s has %v in Go and %v in TypeScript", id, inGo, d.service.List())
	}
	for range 5 {
		if _, err := d.Deploy(t.Context(), bytes.NewReader(second), "", false); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadDir(d.versions)
	if err != nil || len(kept) != keepVersions || len(d.store.list()) != keepVersions {
		t.Errorf("%d folders, %v", len(kept), err)
	}
	if _, err := d.Rollback(t.Context(), BuiltIn, false); err != nil || !strings.HasPrefix(d.get("/hello"), "404") {
		t.Errorf("built-in: %v, %s", err, d.get("/hello"))
	}
}

// TestDeployBothLanguages deploys functions in Go and in TypeScript as one version.
func TestDeployBothLanguages(t *testing.T) {
	t.Parallel()
	s := newScripts(t)
	d := withScripts(t, s)
	goOnly := bundle(t, "one")
	if _, err := d.Deploy(t.Context(), bytes.NewReader(s.mustBundle(goOnly)), "", false); err == nil ||
		!strings.Contains(err.Error(), `"hello" exists in Go and in TypeScript`) {
		t.Errorf("a name in both languages: %v", err)
	}
	if err := os.Rename(filepath.Join(s.root, "functions", "hello"), filepath.Join(s.root, "functions", "other")); err != nil {
		t.Fatal(err)
	}
	both := s.mustBundle(goOnly)
	for range 2 {
		v, err := d.Deploy(t.Context(), bytes.NewReader(both), "", false)
		if err != nil || len(v.Functions) != 5 {
			t.Fatalf("%+v %v", v, err)
		}
		if got := d.get("/other"); !strings.HasPrefix(got, `200 "first`) {
			t.Error(got)
		}
		if got := d.get("/hello"); !strings.HasPrefix(got, "200 ") {
			t.Error(got)
		}
		if _, err := d.Deploy(t.Context(), bytes.NewReader(goOnly), "", false); err != nil {
			t.Fatal(err)
		}
		if d.is("one"); !strings.HasPrefix(d.get("/other"), "404") {
			t.Error("the function in TypeScript is left")
		}
	}
}

// TestDeployTypeScriptRefuses checks that functions with mistakes are refused and that the version
// before goes on.
func TestDeployTypeScriptRefuses(t *testing.T) {
	t.Parallel()
	s := newScripts(t)
	d := withScripts(t, s)
	if _, err := d.Deploy(t.Context(), bytes.NewReader(s.mustBundle(nil)), "", false); err != nil {
		t.Fatal(err)
	}
	for source, want := range map[string]string{
		`const n: number = "text"; Deno.serve(() => new Response(String(n)));`: "TS2322",
		`import "./missing.ts";`: "missing.ts",
	} {
		s.write("functions/bad/index.ts", source)
		if _, err := s.bundle(nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	s.write("functions/bad/index.ts", `throw new Error("at its start");`)
	_, err := d.Deploy(t.Context(), bytes.NewReader(s.mustBundle(nil)), "", false)
	if err == nil || !strings.Contains(err.Error(), "function bad does not start") ||
		!strings.Contains(err.Error(), "at its start") {
		t.Error(err)
	}
	if _, err := d.Deploy(t.Context(), strings.NewReader("PK"), "", false); err == nil {
		t.Error("an archive without functions is accepted")
	}
	d.is("first remote tiny shared outside own")
	kept, err := os.ReadDir(d.versions)
	if err != nil || len(kept) != 1 {
		t.Errorf("refused versions are kept: %v %v", kept, err)
	}
}
