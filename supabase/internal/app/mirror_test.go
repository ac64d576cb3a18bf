package app

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// mirror serves the modules that functions in TypeScript import: packages of npm from node_modules,
// and modules of the tests in place of jsr.io, esm.sh and deno.land.
type mirror struct {
	modules string // a folder node_modules
	mu      sync.Mutex
	packed  map[string][]byte
}

// modules are the modules of the tests.
var modules = map[string]string{
	"/jsr/@test/greet/meta.json":    `{"scope":"test","name":"greet","latest":"1.2.0","versions":{"1.2.0":{}}}`,
	"/jsr/@test/greet/1.2.0/mod.ts": "export const greet = (name: string): string => `Hello ${name}!`;\n",
	"/esm/double@1":                 "export const double = (n) => 2 * n;\n",
	// as std/http did it before Deno.serve
	"/std@0.168.0/http/server.ts": `export async function serve(handler: (r: Request) => Promise<Response>) {
  // deno-lint-ignore no-explicit-any
  const listener: any = Deno.listen({ port: 8000, hostname: "0.0.0.0", transport: "tcp" });
  for (;;) {
    const connection = await listener.accept();
    // deno-lint-ignore no-explicit-any
    const http = (Deno as any).serveHttp(connection);
    (async () => {
      for (let event = await http.nextRequest(); event; event = await http.nextRequest()) {
        handler(event.request).then((response) => event.respondWith(response));
      }
    })();
  }
}
`,
}

// newMirror starts a mirror and returns its address.
func newMirror(t *testing.T) string {
	t.Helper()
	m := &mirror{modules: nodeModules(t), packed: map[string][]byte{}}
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	return server.URL
}

// nodeModules returns the folder of the packages that `npm ci` installs.
func nodeModules(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "node_modules", "zod")); err == nil {
			return filepath.Join(dir, "node_modules")
		}
	}
	t.Fatal("there is no node_modules: run `npm ci`")
	return ""
}

// ServeHTTP serves a module or a file of a registry.
func (m *mirror) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if name, ok := strings.CutPrefix(r.URL.Path, "/npm/"); ok {
		if err := m.npm(w, r, name); err != nil {
			http.Error(w, err.Error(), http.StatusNotFound)
		}
		return
	}
	if r.URL.Path == "/jsr/@test/greet/1.2.0_meta.json" {
		source := modules["/jsr/@test/greet/1.2.0/mod.ts"]
		fmt.Fprintf(w, `{"manifest":{"/mod.ts":{"size":%d,"checksum":"sha256-%x"}},"exports":{".":"./mod.ts"}}`,
			len(source), sha256.Sum256([]byte(source)))
		return
	}
	source, ok := modules[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	if !strings.HasSuffix(r.URL.Path, ".ts") {
		w.Header().Set("Content-Type", "text/javascript")
	}
	_, _ = w.Write([]byte(source))
}

// npm serves the description of a package, or the package itself.
func (m *mirror) npm(w http.ResponseWriter, r *http.Request, name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if name, ok := strings.CutSuffix(name, ".tgz"); ok {
		content, ok := m.packed[name]
		if !ok {
			return errors.New("the package was not described")
		}
		_, err := w.Write(content)
		return err
	}
	dir := filepath.Join(m.modules, filepath.FromSlash(path.Clean("/"+name)))
	text, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if err != nil {
		return err
	}
	var manifest map[string]any
	if err := json.Unmarshal(text, &manifest); err != nil {
		return err
	}
	content, ok := m.packed[name]
	if !ok {
		if content, err = pack(dir); err != nil {
			return err
		}
		m.packed[name] = content
	}
	sum := sha512.Sum512(content)
	manifest["dist"] = map[string]string{
		"tarball":   "http://" + r.Host + "/npm/" + name + ".tgz",
		"integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:]),
	}
	version := fmt.Sprint(manifest["version"])
	return json.NewEncoder(w).Encode(map[string]any{
		"name": name, "dist-tags": map[string]string{"latest": version}, "versions": map[string]any{version: manifest},
	})
}

// pack returns a folder as a package of npm.
func pack(dir string) ([]byte, error) {
	var content bytes.Buffer
	zip, err := gzip.NewWriterLevel(&content, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	archive := tar.NewWriter(zip)
	err = filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() || strings.HasSuffix(name, ".map") {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		below, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		header := &tar.Header{Name: path.Join("package", filepath.ToSlash(below)), Mode: 0o644, Size: int64(len(text))}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		_, err = archive.Write(text)
		return err
	})
	err = errors.Join(err, archive.Close(), zip.Close())
	return content.Bytes(), err
}
